import type { Json } from "../../index.ts";

/** A value without the strings in it that repeat something else, and how many bytes of JSON those took. */
export interface Uncopied {
  readonly value: Json | undefined;
  readonly bytes: number;
}

/** Leaves out, at any depth of objects, the fields that `isCopy` knows; what is in arrays stays. */
export function withoutCopies(value: Json, isCopy: (text: string, field: string) => boolean): Uncopied {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return { value, bytes: 0 };
  const kept: [string, Json][] = [];
  let bytes = 0;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "string" && isCopy(inner, field)) {
      bytes += Buffer.byteLength(JSON.stringify(inner));
      continue;
    }
    const uncopied = withoutCopies(inner, isCopy);
    bytes += uncopied.bytes;
    if (uncopied.value !== undefined) kept.push([field, uncopied.value]);
  }
  if (kept.length === 0 && bytes > 0) return { value: undefined, bytes };
  return { value: Object.fromEntries(kept), bytes };
}
