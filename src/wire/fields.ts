import { parseJson } from "../model/base/parse-json.ts";
import type { Json } from "../model/json.ts";
import type { WireObject } from "./wire.ts";

/** Returns the value if it is an object. */
export function toObject(value: unknown): WireObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as WireObject)
    : undefined;
}

/** Returns the value if it is an array, else an empty array. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a non-empty string. */
export function toText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the value if it is a finite number. */
export function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Converts a number or ISO date to milliseconds since 1970; undefined for anything else and for times before 1970. */
export function toTime(value: unknown): number | undefined {
  const time = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) && time > 0 && time < 8.64e15 ? Math.trunc(time) : undefined;
}

/** Returns the fields of an object except the known ones; undefined if none remain. Values must come from JSON. */
export function omitFields(
  value: WireObject,
  known: readonly string[],
): { readonly [key: string]: Json } | undefined {
  let left: [string, unknown][] | undefined;
  for (const key of Object.keys(value)) {
    if (known.includes(key) || value[key] === undefined) continue;
    left ??= [];
    left.push([key, value[key]]);
  }
  // fromEntries defines own fields and never sets a prototype, whatever their names.
  return left && (Object.fromEntries(left) as { [key: string]: Json });
}

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
