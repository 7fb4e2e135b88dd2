/**
 * A map of text that keeps its newest entries: at least half the bound, at most all of it. Two generations, because
 * taking the oldest entry out of one map one by one has to step over all that were taken out before.
 */
export class RecentMap<V> {
  readonly #half: number;
  #newer: Map<string, V>;
  #older = new Map<string, V>();

  constructor(max: number, entries: Iterable<readonly [string, V]> = []) {
    this.#half = Math.max(1, Math.floor(max / 2));
    this.#newer = new Map(entries);
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  get(key: string): V | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: V): void {
    if (this.#newer.size >= this.#half && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  /** The newest entries, oldest first. */
  newest(count: number): readonly (readonly [string, V])[] {
    const older = [...this.#older].filter(([key]) => !this.#newer.has(key));
    return [...older, ...this.#newer].slice(-count);
  }
}
