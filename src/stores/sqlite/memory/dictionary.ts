import { BoundedMap } from "../../../model/base/caches.ts";
import type { Database } from "../database.ts";
import { prepareValues } from "../value-rows.ts";

const MAX_CACHED = 200_000;
/** A term and its number in one of the maps. */
const BYTES_PER_TERM = 100;

/**
 * Terms and their numbers. The caches are valid while nothing was removed from the index. Indexing asks for numbers and
 * recall for terms, so a pair is held only in the direction that was asked for.
 */
export class Dictionary {
  readonly #statements;
  readonly #numbers = new BoundedMap<string, number>({ max: MAX_CACHED });
  readonly #terms = new BoundedMap<number, string>({ max: MAX_CACHED });
  #stamp = -1;

  constructor(db: Database) {
    this.#statements = {
      number: prepareValues(db, "SELECT number FROM terms WHERE term = ?"),
      term: prepareValues(db, "SELECT term FROM terms WHERE number = ?"),
      many: prepareValues(
        db,
        "SELECT terms.number, term FROM json_each(?) AS wanted CROSS JOIN terms ON terms.number = wanted.value",
      ),
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
    return (this.#numbers.size + this.#terms.size) * BYTES_PER_TERM;
  }

  clear(): void {
    this.#numbers.clear();
    this.#terms.clear();
    this.#stamp = -1;
  }

  numberOf(term: string): number | undefined {
    const held = this.#numbers.get(term);
    if (held !== undefined) return held;
    const number = this.#statements.number.get(term)?.[0] as number | undefined;
    if (number !== undefined) this.#numbers.set(term, number);
    return number;
  }

  /** Within a write transaction: the number of a term, assigned on first use. */
  require(term: string): number {
    const known = this.numberOf(term);
    if (known !== undefined) return known;
    const number = Number(this.#statements.add.run(term).lastInsertRowid);
    this.#numbers.set(term, number);
    return number;
  }

  /** Reads the terms that are not cached, by one statement. */
  readAhead(lists: Iterable<Iterable<number>>): void {
    const missing = new Set<number>();
    for (const list of lists) for (const number of list) if (!this.#terms.has(number)) missing.add(number);
    if (missing.size === 0) return;
    for (const [number, term] of this.#statements.many.all(JSON.stringify([...missing])))
      this.#terms.set(number as number, term as string);
  }

  termOf(number: number): string | undefined {
    const held = this.#terms.get(number);
    if (held !== undefined) return held;
    const term = this.#statements.term.get(number)?.[0] as string | undefined;
    if (term !== undefined) this.#terms.set(number, term);
    return term;
  }
}
