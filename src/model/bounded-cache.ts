/** What a cache may hold at most. */
export interface CacheBound {
  readonly maxWeight: number;
  /** Entries older than this are not returned and go first. */
  readonly maxAgeMs?: number;
}

/** Keeps the most recently used values up to a total weight (bytes or a count); oldest leave first. */
export class BoundedCache<Key, Value> {
  readonly #bound: CacheBound;
  readonly #now: () => number;
  readonly #held = new Map<Key, { value: Value; weight: number; since: number }>();
  #weight = 0;
  /** The key used last: using it again needs no change of order, and a map that never changes makes no garbage. */
  #youngest: Key | undefined;

  constructor(bound: CacheBound, now: () => number = Date.now) {
    this.#bound = bound;
    this.#now = now;
  }

  get weight(): number {
    return this.#weight;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Keys held now, the least recently used first. */
  keys(): Key[] {
    return [...this.#held.keys()];
  }

  get(key: Key): Value | undefined {
    const held = this.#held.get(key);
    if (!held) return undefined;
    if (this.#bound.maxAgeMs !== undefined && this.#now() - held.since > this.#bound.maxAgeMs) {
      this.delete(key);
      return undefined;
    }
    if (key !== this.#youngest) {
      // Re-insertion moves the key to the young end of the map's order.
      this.#held.delete(key);
      this.#held.set(key, held);
      this.#youngest = key;
    }
    return held.value;
  }

  /** Holds the value unless it alone is heavier than the bound. */
  set(key: Key, value: Value, weight = 1): void {
    this.delete(key);
    if (weight > this.#bound.maxWeight) return;
    this.#held.set(key, { value, weight, since: this.#bound.maxAgeMs === undefined ? 0 : this.#now() });
    this.#weight += weight;
    this.#youngest = key;
    for (const oldest of this.#held.keys()) {
      if (this.#weight <= this.#bound.maxWeight) break;
      this.delete(oldest);
    }
  }

  /** Drops all values that are too old; returns the milliseconds until the next one is, undefined if none will be. */
  dropAged(): number | undefined {
    const { maxAgeMs } = this.#bound;
    if (maxAgeMs === undefined) return undefined;
    const now = this.#now();
    let oldest: number | undefined;
    for (const [key, { since }] of this.#held) {
      if (now - since > maxAgeMs) this.delete(key);
      else oldest = Math.min(oldest ?? since, since);
    }
    return oldest === undefined ? undefined : oldest + maxAgeMs - now + 1;
  }

  delete(key: Key): void {
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    this.#weight -= held.weight;
  }

  clear(): void {
    this.#held.clear();
    this.#weight = 0;
  }
}
