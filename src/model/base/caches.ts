/** Limits of a bounded map. */
interface MapBound<Key, Value> {
  /** Maximum total weight; a function if the limit may change. */
  readonly max: number | (() => number);
  /** Weight of an entry, always the same for the same entry. Default 1: the limit is a number of entries. */
  readonly weigh?: (value: Value, key: Key) => number;
  /** Older entries are not returned. */
  readonly maxAgeMs?: number;
  readonly now?: () => number;
}

/**
 * A map up to a total weight: the entries that were set first leave first. Reading with `use` instead of `get` makes it
 * an LRU cache. Every operation takes constant time, and entries take no more memory than in a plain map.
 */
export class BoundedMap<Key, Value> implements Iterable<readonly [Key, Value]> {
  readonly #bound: MapBound<Key, Value>;
  readonly #values = new Map<Key, Value>();
  /** The time of each entry, if they age. */
  readonly #since: Map<Key, number> | undefined;
  #weight = 0;
  /** The last used key: using it again needs no reordering, and an unchanged map creates no garbage. */
  #youngest: Key | undefined;
  /** Stands before the oldest entry: a new iterator would step over the gaps of all entries that have left. */
  #oldest: MapIterator<Key> | undefined;
  /** Changes since the last eviction. An iterator that stands still retains all tables that the map has replaced. */
  #changes = 0;

  /** `entries` are set in their order. */
  constructor(bound: MapBound<Key, Value>, entries: Iterable<readonly [Key, Value]> = []) {
    this.#bound = bound;
    this.#since = bound.maxAgeMs === undefined ? undefined : new Map();
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#values.size;
  }

  get weight(): number {
    return this.#weight;
  }

  has(key: Key): boolean {
    return this.#values.has(key) && !this.#isAged(key);
  }

  /** Reads a value without a change to the order. */
  get(key: Key): Value | undefined {
    if (!this.#isAged(key)) return this.#values.get(key);
    this.delete(key);
    return undefined;
  }

  /** Reads a value and makes its entry the youngest. */
  use(key: Key): Value | undefined {
    const value = this.get(key);
    if (key === this.#youngest || !this.#values.delete(key)) return value;
    this.#values.set(key, value as Value);
    this.#youngest = key;
    this.#noteChange();
    return value;
  }

  /** Makes an entry the youngest; an entry that exceeds the limit by itself is not kept. */
  set(key: Key, value: Value): void {
    if (this.#values.has(key)) this.delete(key);
    const max = typeof this.#bound.max === "number" ? this.#bound.max : this.#bound.max();
    const weight = this.#bound.weigh?.(value, key) ?? 1;
    if (weight > max) return;
    this.#values.set(key, value);
    this.#since?.set(key, this.#now());
    this.#weight += weight;
    this.#youngest = key;
    while (this.#weight > max) this.takeOldest();
  }

  delete(key: Key): boolean {
    if (!this.#values.has(key)) return false;
    const value = this.#values.get(key) as Value;
    this.#values.delete(key);
    this.#since?.delete(key);
    this.#weight -= this.#bound.weigh?.(value, key) ?? 1;
    this.#noteChange();
    return true;
  }

  clear(): void {
    this.#values.clear();
    this.#since?.clear();
    this.#weight = 0;
    this.#youngest = undefined;
    this.#oldest = undefined;
  }

  /** Removes the oldest entry and returns it; undefined if the map is empty. */
  takeOldest(): readonly [Key, Value] | undefined {
    if (this.#values.size === 0) return undefined;
    this.#oldest ??= this.#values.keys();
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#values.keys();
      next = this.#oldest.next();
    }
    const key = next.value as Key;
    const value = this.#values.get(key) as Value;
    this.delete(key);
    this.#changes = 0;
    return [key, value];
  }

  /** The youngest entries, oldest first. */
  listNewest(count: number): readonly (readonly [Key, Value])[] {
    return [...this.#values].slice(-count);
  }

  /** Drops all aged entries; returns the milliseconds until the next one is due, or undefined if nothing ages. */
  dropAged(): number | undefined {
    const { maxAgeMs } = this.#bound;
    if (!this.#since || maxAgeMs === undefined) return undefined;
    const now = this.#now();
    let oldest: number | undefined;
    for (const [key, since] of this.#since) {
      if (now - since > maxAgeMs) this.delete(key);
      else oldest = Math.min(oldest ?? since, since);
    }
    return oldest === undefined ? undefined : oldest + maxAgeMs - now + 1;
  }

  /** The keys, oldest first. */
  keys(): MapIterator<Key> {
    return this.#values.keys();
  }

  /** The values, oldest first. */
  values(): MapIterator<Value> {
    return this.#values.values();
  }

  /** The entries, oldest first. */
  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#values.entries();
  }

  #now(): number {
    return (this.#bound.now ?? Date.now)();
  }

  #isAged(key: Key): boolean {
    const since = this.#since?.get(key);
    return since !== undefined && this.#now() - since > (this.#bound.maxAgeMs as number);
  }

  #noteChange(): void {
    if (this.#oldest && ++this.#changes > this.#values.size) this.#oldest = undefined;
  }
}

/** A cache that can be emptied at any time; its content is read or computed again. */
export interface DroppableCache {
  /** Approximate bytes in memory. */
  sizeBytes(): number;
  /** Number of items, if they are counted. */
  itemCount?(): number;
  drop(): void | Promise<void>;
}

/** The size of all caches with one name. */
export interface CacheSize {
  readonly name: string;
  readonly sizeBytes: number;
  readonly itemCount: number;
}

/** The caches of a kernel: their sizes, the share of their limits that they may use now, and a way to empty them. */
export class CacheRegistry {
  readonly #caches = new Set<{ readonly name: string; readonly cache: DroppableCache }>();
  #weak: { readonly name: string; readonly cache: WeakRef<DroppableCache> }[] = [];
  #maxWeak = 16;
  /** Share of their limits that caches may use: 1, less under memory pressure. */
  share = 1;

  /** Adds a cache; returns a function that removes it. */
  add(name: string, cache: DroppableCache): () => void {
    const one = { name, cache };
    this.#caches.add(one);
    return () => void this.#caches.delete(one);
  }

  /** Adds a cache that nobody removes: it leaves when its owner has dropped it. */
  addWeakly(name: string, cache: DroppableCache): void {
    if (this.#weak.length >= this.#maxWeak) {
      this.#weak = this.#weak.filter((one) => one.cache.deref());
      this.#maxWeak = Math.max(16, 2 * this.#weak.length);
    }
    this.#weak.push({ name, cache: new WeakRef(cache) });
  }

  /** The sizes by name. */
  list(): readonly CacheSize[] {
    const sizes = new Map<string, { sizeBytes: number; itemCount: number }>();
    for (const { name, cache } of this.#all()) {
      const sum = sizes.get(name) ?? { sizeBytes: 0, itemCount: 0 };
      sum.sizeBytes += cache.sizeBytes();
      sum.itemCount += cache.itemCount?.() ?? 0;
      sizes.set(name, sum);
    }
    return [...sizes].map(([name, size]) => ({ name, ...size }));
  }

  /** Empties all caches; one that fails does not keep the others. */
  async dropAll(): Promise<void> {
    await Promise.allSettled([...this.#all()].map(async ({ cache }) => cache.drop()));
  }

  *#all(): Generator<{ readonly name: string; readonly cache: DroppableCache }> {
    yield* this.#caches;
    for (const { name, cache: reference } of this.#weak) {
      const cache = reference.deref();
      if (cache) yield { name, cache };
    }
  }
}
