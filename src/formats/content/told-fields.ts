import type { Json } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Tells whether a value says nothing: null, "", [] or {}. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** The fields of an object without some and without those that say nothing; undefined if none are left. */
export function toldFields(
  value: JsonObject,
  known: readonly string[],
): { readonly [key: string]: Json } | undefined {
  const left = Object.entries(value).filter(([key, field]) => !known.includes(key) && !isEmpty(field));
  return left.length > 0 ? (Object.fromEntries(left) as { [key: string]: Json }) : undefined;
}
