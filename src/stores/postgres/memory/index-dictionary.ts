import { BoundedMap } from "../../../model/base/caches.ts";
import type { Sql, Transaction } from "../connection/postgres-database.ts";
import type { LockedState } from "./index-state.ts";

const MAX_CACHED = 200_000;
/** A term and its number in two maps. */
const BYTES_PER_TERM = 150;

/** Terms and their numbers. The cache is valid while nothing was removed from the index. */
export class IndexDictionary {
  readonly #numbers = new BoundedMap<string, number>({ max: MAX_CACHED });
  readonly #terms = new BoundedMap<number, string>({ max: MAX_CACHED });
  #stamp = -1;

  /** Clears the cache if terms may have been removed. */
  refresh(stamp: number): void {
    if (stamp !== this.#stamp) this.clear();
    this.#stamp = stamp;
  }

  /** Approximate bytes of the cache. */
  get sizeBytes(): number {
    return this.#numbers.size * BYTES_PER_TERM;
  }

  clear(): void {
    this.#numbers.clear();
    this.#terms.clear();
    this.#stamp = -1;
  }

  /** The numbers of the known ones of the terms. */
  async numbersOf(sql: Sql, terms: Iterable<string>): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const unknown: string[] = [];
    for (const term of new Set(terms)) {
      const held = this.#numbers.get(term);
      if (held === undefined) unknown.push(term);
      else found.set(term, held);
    }
    if (unknown.length === 0) return found;
    const rows = await sql.query("SELECT term, number FROM @terms WHERE term = ANY($1::text[])", [unknown]);
    for (const { term, number } of rows) {
      found.set(term as string, number as number);
      this.hold(term as string, number as number);
    }
    return found;
  }

  /** Within a transaction that has locked the index: the numbers of all terms, assigned on first use. */
  async requireAll(
    transaction: Transaction,
    state: LockedState,
    terms: Iterable<string>,
  ): Promise<Map<string, number>> {
    const all = new Set(terms);
    const found = await this.numbersOf(transaction, all);
    const added: string[] = [];
    const first = state.lastTerm + 1;
    for (const term of all) {
      if (found.has(term)) continue;
      added.push(term);
      found.set(term, ++state.lastTerm);
    }
    if (added.length > 0) {
      await transaction.query(
        "INSERT INTO @terms (number, term) SELECT $1::bigint + place - 1, term FROM unnest($2::text[]) WITH ORDINALITY AS t (term, place)",
        [first, added],
      );
    }
    return found;
  }

  /** The terms of numbers; those of missing ones are undefined. */
  async termsOf(sql: Sql, numbers: Iterable<number>): Promise<(number: number) => string | undefined> {
    const found = new Map<number, string>();
    const unknown: number[] = [];
    for (const number of new Set(numbers)) {
      const held = this.#terms.get(number);
      if (held === undefined) unknown.push(number);
      else found.set(number, held);
    }
    if (unknown.length > 0) {
      const rows = await sql.query("SELECT term, number FROM @terms WHERE number = ANY($1::bigint[])", [
        unknown,
      ]);
      for (const { term, number } of rows) {
        found.set(number as number, term as string);
        this.hold(term as string, number as number);
      }
    }
    return (number) => found.get(number);
  }

  /** Caches a committed term. */
  hold(term: string, number: number): void {
    this.#numbers.set(term, number);
    this.#terms.set(number, term);
  }
}
