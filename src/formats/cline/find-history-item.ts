import { toObject } from "../../wire/fields.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Finds a task in the task list; undefined if it is missing or unreadable. */
export async function findHistoryItem(
  input: Input,
  path: string,
  id: string,
): Promise<JsonObject | undefined> {
  for await (const { value } of input.jsonElements(path)) {
    const item = toObject(value);
    if (item?.id === id) return item;
  }
  return undefined;
}
