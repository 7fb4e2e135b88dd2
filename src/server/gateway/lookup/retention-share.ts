import { BoundedMap } from "../../../model/base/caches.ts";

/** Number of lookups between two decisions. */
const JUDGE_AFTER_REQUESTS = 256;
const MIN_SHARE = 1 / 32;
/** Share of requests that must find their conversation in memory for keeping them to pay off. */
const MIN_HIT_SHARE = 1 / 8;

/**
 * Decides how much of the memory for conversations is used. If more conversations take turns than fit, the next one is
 * always one that was just evicted; keeping the others is then useless, and the share shrinks.
 */
export class RetentionShare {
  readonly #evictedAt: BoundedMap<string, number>;
  /** Total bytes evicted so far. */
  #evictedBytes = 0;
  hasEvicted = false;
  /** Share of the room to be used. */
  share = 1;
  #found = 0;
  #wanted = 0;
  #seen = 0;

  /** Remembers the names of as many evicted conversations as `maxNames` returns. */
  constructor(maxNames: () => number) {
    this.#evictedAt = new BoundedMap({ max: maxNames });
  }

  /** Records a lookup of a conversation and whether it was in memory; `heldBytes` of `roomBytes` are in use. */
  recordLookup(name: string, isHeld: boolean, heldBytes: number, roomBytes: number): void {
    const goneBefore = this.#evictedAt.get(name);
    if (isHeld) this.#found++;
    else if (goneBefore !== undefined && this.#evictedBytes - goneBefore + heldBytes <= roomBytes)
      this.#wanted++;
    if (isHeld || goneBefore !== undefined) this.#seen++;
    this.#evictedAt.delete(name);
    if (this.#seen >= JUDGE_AFTER_REQUESTS) this.#judge();
  }

  recordEviction(name: string, sizeBytes: number): void {
    this.hasEvicted = true;
    this.#evictedBytes += sizeBytes;
    this.#evictedAt.set(name, this.#evictedBytes);
  }

  #judge(): void {
    const isWanted = this.#wanted >= JUDGE_AFTER_REQUESTS * MIN_HIT_SHARE;
    const isInVain = this.#found < JUDGE_AFTER_REQUESTS * MIN_HIT_SHARE;
    if (isWanted) this.share = 1;
    else if (isInVain) this.share = Math.max(MIN_SHARE, this.share / 2);
    this.#found = 0;
    this.#wanted = 0;
    this.#seen = 0;
  }
}
