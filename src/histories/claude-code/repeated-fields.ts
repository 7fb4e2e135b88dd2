import type { Json } from "../../kernel/index.ts";
import type { JsonObject } from "../reading/json-lines.ts";

type Fields = { readonly [field: string]: Json };

/** Fields that repeat from line to line: stored once for the session, and with a record only if they differ. */
export class RepeatedFields {
  #facts: Fields;
  readonly #fields: readonly string[];

  /** `facts` are the values known so far; `fields` are the names that may repeat. */
  constructor(facts: Fields, fields: readonly string[]) {
    this.#facts = facts;
    this.#fields = fields;
  }

  /** Learns fields that no line had before; returns true if there were any. */
  learn(record: JsonObject): boolean {
    const found: [string, Json][] = [];
    for (const field of this.#fields) {
      const value = record[field];
      if (value !== undefined && value !== null && !Object.hasOwn(this.#facts, field))
        found.push([field, value as Json]);
    }
    if (found.length > 0) this.#facts = { ...this.#facts, ...Object.fromEntries(found) };
    return found.length > 0;
  }

  /** Returns the fields of a record that are neither in `known` nor equal to the session's. */
  getDifferingFields(record: JsonObject, known: ReadonlySet<string>): Fields | undefined {
    // Nearly all fields of nearly all lines are as expected: avoid allocations for them.
    let differing: [string, Json][] | undefined;
    for (const field of Object.keys(record)) {
      const value = record[field] as Json | undefined;
      if (value === undefined || known.has(field) || this.#isSame(field, value)) continue;
      differing ??= [];
      differing.push([field, value]);
    }
    return differing && Object.fromEntries(differing);
  }

  toJSON(): Fields {
    return this.#facts;
  }

  #isSame(field: string, value: Json): boolean {
    if (!Object.hasOwn(this.#facts, field)) return false;
    const fact = this.#facts[field];
    return fact === value || (typeof value === "object" && JSON.stringify(fact) === JSON.stringify(value));
  }
}
