import type { Json } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";

type Fields = { readonly [field: string]: Json };

/** What repeats from line to line: kept once for the session, and with a record only where it differs from that. */
export class RepeatedFields {
  #facts: Fields;
  readonly #fields: readonly string[];

  /** Begins with what is known; `fields` are those that may repeat. */
  constructor(facts: Fields, fields: readonly string[]) {
    this.#facts = facts;
    this.#fields = fields;
  }

  /** Learns fields that no line had before; true if there were any. */
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

  /** The fields of a record besides the known ones that are not as the session has them. */
  besides(record: JsonObject, known: ReadonlySet<string>): Fields | undefined {
    // Nearly all fields of nearly all lines are as expected: nothing is made for those.
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
