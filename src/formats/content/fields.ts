import type { Json } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** The value as an object, or undefined. */
export function objectOf(value: unknown): JsonObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** The value as an array; an empty one for anything else. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a string with something in it, or undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a finite number, or undefined. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Milliseconds since 1970 of a number or an ISO date; undefined for anything that is no time after 1970. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) && time > 0 && time < 8.64e15 ? Math.trunc(time) : undefined;
}

/** The fields of an object without some; undefined if none are left. Values are JSON because they came from JSON. */
export function fieldsBesides(
  value: JsonObject,
  known: readonly string[],
): { readonly [key: string]: Json } | undefined {
  const left = Object.entries(value).filter(([key, field]) => !known.includes(key) && field !== undefined);
  // fromEntries defines fields and never sets a prototype, whatever they are called.
  return left.length > 0 ? (Object.fromEntries(left) as { [key: string]: Json }) : undefined;
}

/** An object of those fields that are not undefined. */
export function definedFields<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const defined: Partial<T> = {};
  // Our own names only, never those of foreign JSON; this runs for every record.
  for (const key in fields) if (fields[key] !== undefined) defined[key] = fields[key];
  return defined as { [K in keyof T]: Exclude<T[K], undefined> };
}
