import { toObject } from "../../../formats/content/fields.ts";
import { parseJson } from "../../../formats/reading/parse-json.ts";
import type { WireObject } from "../api.ts";

/** The JSON object in a text; undefined for anything else. */
export function parseObject(text: string): WireObject | undefined {
  return toObject(parseJsonOrUndefined(text));
}

/** The JSON value in a text; undefined if it is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
