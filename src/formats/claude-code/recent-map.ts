/** A map of text that keeps its newest entries, up to a bound. */
export class RecentMap<V> {
  readonly #max: number;
  readonly #map: Map<string, V>;

  constructor(max: number, entries: Iterable<readonly [string, V]> = []) {
    this.#max = max;
    this.#map = new Map(entries);
  }

  has(key: string): boolean {
    return this.#map.has(key);
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  set(key: string, value: V): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size <= this.#max) return;
    for (const oldest of this.#map.keys()) {
      this.#map.delete(oldest);
      return;
    }
  }

  /** The newest entries, oldest first. */
  newest(count: number): readonly (readonly [string, V])[] {
    return [...this.#map].slice(-count);
  }
}
