/** Limits of a cache. */
export interface CacheBound {
  readonly maxWeight: number;
  /** Older entries are not returned. */
  readonly maxAgeMs?: number;
}

/** LRU cache up to a total weight (bytes or a count). */
export class BoundedCache<Key, Value> {
  readonly #bound: CacheBound;
  readonly #now: () => number;
  readonly #entries = new Map<Key, { value: Value; weight: number; since: number }>();
  #weight = 0;
  /** The last used key: using it again needs no reordering, and an unchanged map creates no garbage. */
  #youngest: Key | undefined;

  constructor(bound: CacheBound, now: () => number = Date.now) {
    this.#bound = bound;
    this.#now = now;
  }

  get weight(): number {
    return this.#weight;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Cached keys, least recently used first. */
  keys(): Key[] {
    return [...this.#entries.keys()];
  }

  get(key: Key): Value | undefined {
    const held = this.#entries.get(key);
    if (!held) return undefined;
    if (this.#bound.maxAgeMs !== undefined && this.#now() - held.since > this.#bound.maxAgeMs) {
      this.delete(key);
      return undefined;
    }
    if (key !== this.#youngest) {
      // Re-insertion moves the key to the young end of the map's order.
      this.#entries.delete(key);
      this.#entries.set(key, held);
      this.#youngest = key;
    }
    return held.value;
  }

  /** Caches the value unless its own weight exceeds the limit. */
  set(key: Key, value: Value, weight = 1): void {
    this.delete(key);
    if (weight > this.#bound.maxWeight) return;
    this.#entries.set(key, { value, weight, since: this.#bound.maxAgeMs === undefined ? 0 : this.#now() });
    this.#weight += weight;
    this.#youngest = key;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#bound.maxWeight) break;
      this.delete(oldest);
    }
  }

  /** Drops all expired values; returns the milliseconds until the next expiry, or undefined if nothing expires. */
  dropAged(): number | undefined {
    const { maxAgeMs } = this.#bound;
    if (maxAgeMs === undefined) return undefined;
    const now = this.#now();
    let oldest: number | undefined;
    for (const [key, { since }] of this.#entries) {
      if (now - since > maxAgeMs) this.delete(key);
      else oldest = Math.min(oldest ?? since, since);
    }
    return oldest === undefined ? undefined : oldest + maxAgeMs - now + 1;
  }

  delete(key: Key): void {
    const held = this.#entries.get(key);
    if (!held) return;
    this.#entries.delete(key);
    this.#weight -= held.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
