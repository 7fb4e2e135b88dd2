/**
 * A map of strings that keeps its newest entries: at least half of the maximum, at most all of it. It uses two
 * generations, because deleting the oldest entry of one map repeatedly has to step over all earlier deletions.
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

  /** Returns the newest entries, oldest first. */
  newest(count: number): readonly (readonly [string, V])[] {
    const older = [...this.#older].filter(([key]) => !this.#newer.has(key));
    return [...older, ...this.#newer].slice(-count);
  }
}
