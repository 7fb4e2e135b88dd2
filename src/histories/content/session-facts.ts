import type { Json } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { isEmpty } from "./non-empty-fields.ts";

/** Maximum JSON length of a field kept with the session; larger fields go into a raw record. */
const MAX_SMALL_CHARACTERS = 2048;
const MAX_FIELDS = 64;

/** Facts about a conversation: small fields with their values, large ones as fingerprints. */
export type SessionFacts = {
  readonly small: { readonly [field: string]: Json };
  readonly large: { readonly [field: string]: string };
};

export const NO_FACTS: SessionFacts = { small: {}, large: {} };

/** Result of adding a description of the conversation. */
interface FactsUpdate {
  readonly facts: SessionFacts;
  /** True if a small field is new or has changed. */
  readonly isChanged: boolean;
  /** Large fields that are new or have changed. */
  readonly large?: { readonly [field: string]: Json };
}

/** Merges a description of the conversation into the facts; tools repeat such descriptions often. */
export function addFacts(facts: SessionFacts, fields: JsonObject): FactsUpdate {
  const small = new Map(Object.entries(facts.small));
  const large = new Map(Object.entries(facts.large));
  const newLarge: [string, Json][] = [];
  let isChanged = false;
  for (const [field, value] of Object.entries(fields)) {
    if (isEmpty(value)) continue;
    const text = JSON.stringify(value);
    const isSmall = text.length <= MAX_SMALL_CHARACTERS && (small.has(field) || small.size < MAX_FIELDS);
    if (isSmall) {
      if (JSON.stringify(small.get(field)) === text) continue;
      small.set(field, value as Json);
      isChanged = true;
    } else {
      const print = computeFingerprint(text);
      if (large.get(field) === print) continue;
      if (large.has(field) || large.size < MAX_FIELDS) large.set(field, print);
      newLarge.push([field, value as Json]);
    }
  }
  return {
    facts: { small: Object.fromEntries(small), large: Object.fromEntries(large) },
    isChanged,
    ...(newLarge.length > 0 && { large: Object.fromEntries(newLarge) }),
  };
}
