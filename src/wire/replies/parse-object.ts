import { parseJson } from "../../model/base/parse-json.ts";
import { toObject } from "../fields.ts";
import type { WireObject } from "../wire.ts";

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
