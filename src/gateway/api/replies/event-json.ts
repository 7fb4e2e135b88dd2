import { objectOf } from "../../../formats/content/fields.ts";
import { parseJson } from "../../../formats/reading/parse-json.ts";
import type { JsonObject } from "../api.ts";

/** The JSON object in a text; undefined for anything else. */
export function objectIn(text: string): JsonObject | undefined {
  return objectOf(valueIn(text));
}

/** The JSON value in a text; undefined if it is not JSON. */
export function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
