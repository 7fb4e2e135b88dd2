import type { Json } from "../../kernel/index.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Tells whether a value is null, undefined, "", [] or {}. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Returns the fields of an object except the known and the empty ones; undefined if none remain. */
export function nonEmptyFields(
  value: JsonObject,
  known: readonly string[],
): { readonly [key: string]: Json } | undefined {
  const left = Object.entries(value).filter(([key, field]) => !known.includes(key) && !isEmpty(field));
  return left.length > 0 ? (Object.fromEntries(left) as { [key: string]: Json }) : undefined;
}
