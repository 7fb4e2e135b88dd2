import type { Json } from "../../index.ts";

/** Fields of a foreign record that our model has no place for. */
export type Leftovers = { readonly [field: string]: Json };

/** Longest JSON text of a field that goes into a message's meta; longer ones go into a raw record. */
const MAX_META_LENGTH = 4096;

/** Small fields, for meta, and large ones, for a raw record; undefined where there are none. */
export function splitLeftovers(fields: Leftovers | undefined): {
  readonly small?: Leftovers;
  readonly large?: Leftovers;
} {
  if (!fields) return {};
  const small: [string, Json][] = [];
  const large: [string, Json][] = [];
  for (const [field, value] of Object.entries(fields))
    (JSON.stringify(value).length <= MAX_META_LENGTH ? small : large).push([field, value]);
  return {
    ...(small.length > 0 && { small: Object.fromEntries(small) }),
    ...(large.length > 0 && { large: Object.fromEntries(large) }),
  };
}
