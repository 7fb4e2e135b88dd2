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
  #share = 1;

  /** Share of their limits that caches may use: 1, less under memory pressure. */
  get share(): number {
    return this.#share;
  }

  setShare(share: number): void {
    this.#share = share;
  }

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
