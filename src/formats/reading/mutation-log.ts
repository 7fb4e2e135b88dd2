import { toArray } from "../../wire/fields.ts";
import type { JsonObject } from "./json-lines.ts";

/** Keys that would change the prototype of an object instead of its content. */
const FORBIDDEN = new Set<unknown>(["__proto__", "constructor", "prototype"]);
/** No change leads deeper into a document. */
const MAX_DEPTH = 64;

/**
 * Applies a line of a mutation log to a document: 0 begins it, 1 sets a value, 2 appends to a list after cutting it to
 * `i`, 3 deletes. Returns a sentence about a line that cannot be applied; the document is then unchanged.
 */
export function applyMutation(
  { kind, k, v, i }: JsonObject,
  state: unknown,
  replace: (state: unknown) => void,
): string | undefined {
  if (kind === 0) {
    replace(v);
    return undefined;
  }
  const path = toArray(k);
  const last = path.at(-1);
  const isPath =
    path.length <= MAX_DEPTH &&
    path.every((key) => ["string", "number"].includes(typeof key) && !FORBIDDEN.has(key));
  if (!isPath || (kind !== 1 && kind !== 2 && kind !== 3))
    return `not a change of the kinds 0 to 3: ${String(kind)}`;
  if (last === undefined) {
    if (kind === 1) replace(v);
    return kind === 1 ? undefined : "a change without a place";
  }
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => getChild(at, key), state);
  if (typeof holder !== "object" || holder === null)
    return `leads to no place in the document: ${JSON.stringify(path)}`;
  const fields = holder as Record<string, unknown>;
  const key = String(last);
  if (
    Array.isArray(holder) &&
    !(Number.isInteger(Number(last)) && Number(last) >= 0 && Number(last) <= holder.length)
  )
    return `not a place of a list: ${JSON.stringify(path)}`;
  if (kind === 1) fields[key] = v;
  else if (kind === 3) {
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else delete fields[key];
  } else {
    const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const list: unknown[] = Array.isArray(before) ? before : [];
    if (typeof i === "number" && i >= 0 && i < list.length) list.length = Math.trunc(i);
    for (const value of toArray(v)) list.push(value);
    fields[key] = list;
  }
  return undefined;
}

function getChild(holder: unknown, key: unknown): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key as PropertyKey)
    ? (holder as Record<string, unknown>)[key as string]
    : undefined;
}
