import { BoundedMap } from "../../../base/bounded-map.ts";
import type { Database } from "../database.ts";

const MAX_CACHED = 200_000;
/** A term and its number in two maps. */
const BYTES_PER_TERM = 150;

/** Terms and their numbers. The cache is valid while nothing was removed from the index. */
export class Dictionary {
  readonly #statements;
  readonly #numbers = new BoundedMap<string, number>({ max: MAX_CACHED });
  readonly #terms = new BoundedMap<number, string>({ max: MAX_CACHED });
  #stamp = -1;

  constructor(db: Database) {
    this.#statements = {
      number: db.prepare("SELECT number FROM terms WHERE term = ?"),
      term: db.prepare("SELECT term FROM terms WHERE number = ?"),
      add: db.prepare("INSERT INTO terms (term) VALUES (?)"),
      stamp: db.prepare("SELECT value FROM stamp"),
    };
  }

  /**
   * Within a transaction, before any lookup: clears the cache if terms may have been removed.
   * Returns the index's stamp.
   */
  refresh(): number {
    const stamp = this.#statements.stamp.get()?.value as number;
    if (stamp !== this.#stamp) this.clear();
    this.#stamp = stamp;
    return stamp;
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

  numberOf(term: string): number | undefined {
    const held = this.#numbers.get(term);
    if (held !== undefined) return held;
    const number = this.#statements.number.get(term)?.number as number | undefined;
    if (number !== undefined) this.#hold(term, number);
    return number;
  }

  /** Within a write transaction: the number of a term, assigned on first use. */
  require(term: string): number {
    const known = this.numberOf(term);
    if (known !== undefined) return known;
    const number = Number(this.#statements.add.run(term).lastInsertRowid);
    this.#hold(term, number);
    return number;
  }

  termOf(number: number): string | undefined {
    const held = this.#terms.get(number);
    if (held !== undefined) return held;
    const term = this.#statements.term.get(number)?.term as string | undefined;
    if (term !== undefined) this.#hold(term, number);
    return term;
  }

  #hold(term: string, number: number): void {
    this.#numbers.set(term, number);
    this.#terms.set(number, term);
  }
}
