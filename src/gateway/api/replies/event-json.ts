import { objectOf } from "../../../formats/content/fields.ts";
import { parseJson } from "../../../formats/reading/parse-json.ts";
import type { JsonObject } from "../api.ts";

/** The object that a text holds; undefined for anything else. */
export function objectIn(text: string): JsonObject | undefined {
  return objectOf(valueIn(text));
}

/** The value that a text holds; undefined if it is no JSON. */
export function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
