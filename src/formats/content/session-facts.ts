import type { Json } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { fingerprint } from "./fingerprint.ts";
import { isEmpty } from "./told-fields.ts";

/** Fields up to this size stay with the session; larger ones are for a raw record. */
const SMALL_CHARACTERS = 2048;
const MAX_FIELDS = 64;

/** What is known of a conversation as a whole: small fields as they are, large ones by their fingerprints. */
export type SessionFacts = {
  readonly small: { readonly [field: string]: Json };
  readonly large: { readonly [field: string]: string };
};

/** Nothing known yet. */
export const NO_FACTS: SessionFacts = { small: {}, large: {} };

/** What a description of the conversation adds to what is known. */
export interface NewFacts {
  readonly facts: SessionFacts;
  /** A small field is new or has changed. */
  readonly isChanged: boolean;
  /** Large fields that are new or have changed. */
  readonly large?: { readonly [field: string]: Json };
}

/** Compares a description of the conversation with what is known: tools repeat it over and over. */
export function addFacts(facts: SessionFacts, fields: JsonObject): NewFacts {
  const small = new Map(Object.entries(facts.small));
  const large = new Map(Object.entries(facts.large));
  const newLarge: [string, Json][] = [];
  let isChanged = false;
  for (const [field, value] of Object.entries(fields)) {
    if (isEmpty(value)) continue;
    const text = JSON.stringify(value);
    const isSmall = text.length <= SMALL_CHARACTERS && (small.has(field) || small.size < MAX_FIELDS);
    if (isSmall) {
      if (JSON.stringify(small.get(field)) === text) continue;
      small.set(field, value as Json);
      isChanged = true;
    } else {
      const print = fingerprint(text);
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
