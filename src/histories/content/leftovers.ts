import type { Json } from "../../kernel/index.ts";

/** Fields of a foreign record that our model cannot represent. */
export type Leftovers = { readonly [field: string]: Json };

/** Maximum JSON length of a field in a message's meta; longer fields go into a raw record. */
const MAX_META_LENGTH = 4096;

/** Splits fields into small ones for meta and large ones for a raw record; each is absent if empty. */
export function splitLeftovers(fields: Leftovers | undefined): {
  readonly small?: Leftovers;
  readonly large?: Leftovers;
} {
  if (!fields) return {};
  const small: [string, Json][] = [];
  const large: [string, Json][] = [];
  for (const [field, value] of Object.entries(fields)) (isSmall(value) ? small : large).push([field, value]);
  return {
    ...(small.length > 0 && { small: Object.fromEntries(small) }),
    ...(large.length > 0 && { large: Object.fromEntries(large) }),
  };
}

function isSmall(value: Json): boolean {
  // Most fields are short texts and numbers, whose JSON need not be built: a character takes at most six there.
  if (typeof value !== "object" && String(value).length <= MAX_META_LENGTH / 8) return true;
  return JSON.stringify(value).length <= MAX_META_LENGTH;
}
