import { objectOf } from "../content/fields.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** What the list of all tasks says of one; undefined if it says nothing or cannot be read. */
export async function historyItem(input: Input, path: string, id: string): Promise<JsonObject | undefined> {
  for await (const { value } of input.jsonElements(path)) {
    const item = objectOf(value);
    if (item?.id === id) return item;
  }
  return undefined;
}
