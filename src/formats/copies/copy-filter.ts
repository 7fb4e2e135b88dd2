import type { Json } from "../../index.ts";

/** A value without copied strings, and the JSON bytes of the removed ones. */
export interface CopyRemoval {
  readonly value: Json | undefined;
  readonly bytes: number;
}

/** Removes string fields that `isCopy` recognizes, at any depth of objects; arrays stay unchanged. */
export function removeCopies(value: Json, isCopy: (text: string, field: string) => boolean): CopyRemoval {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return { value, bytes: 0 };
  const kept: [string, Json][] = [];
  let bytes = 0;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "string" && isCopy(inner, field)) {
      bytes += Buffer.byteLength(JSON.stringify(inner));
      continue;
    }
    const uncopied = removeCopies(inner, isCopy);
    bytes += uncopied.bytes;
    if (uncopied.value !== undefined) kept.push([field, uncopied.value]);
  }
  if (kept.length === 0 && bytes > 0) return { value: undefined, bytes };
  return { value: Object.fromEntries(kept), bytes };
}
