/** Number of lookups between two decisions. */
const JUDGED = 256;
const LEAST_SHARE = 1 / 32;
/** Share of requests that must find their conversation in memory for keeping them to pay off. */
const WORTH_WHILE = 1 / 8;

/**
 * Decides how much of the memory for conversations is used. If more conversations take turns than fit, the next one is
 * always one that was just evicted; keeping the others is then useless, and the share shrinks.
 */
export class Holding {
  readonly #mostNames: () => number;
  readonly #left = new Map<string, number>();
  /** Total bytes evicted so far. */
  #gone = 0;
  #share = 1;
  #found = 0;
  #wanted = 0;
  #seen = 0;

  /** Remembers the names of `mostNames` evicted conversations. */
  constructor(mostNames: () => number) {
    this.#mostNames = mostNames;
  }

  /** Share of the room to be used. */
  get share(): number {
    return this.#share;
  }

  /** Records a lookup of a conversation and whether it was in memory; `heldBytes` of `roomBytes` are in use. */
  asked(name: string, isHeld: boolean, heldBytes: number, roomBytes: number): void {
    const goneBefore = this.#left.get(name);
    if (isHeld) this.#found++;
    else if (goneBefore !== undefined && this.#gone - goneBefore + heldBytes <= roomBytes) this.#wanted++;
    if (isHeld || goneBefore !== undefined) this.#seen++;
    this.#left.delete(name);
    if (this.#seen >= JUDGED) this.#judge();
  }

  letGo(name: string, sizeBytes: number): void {
    this.#gone += sizeBytes;
    this.#left.set(name, this.#gone);
    for (const oldest of this.#left.keys()) {
      if (this.#left.size <= this.#mostNames()) break;
      this.#left.delete(oldest);
    }
  }

  #judge(): void {
    const isWanted = this.#wanted >= JUDGED * WORTH_WHILE;
    const isInVain = this.#found < JUDGED * WORTH_WHILE;
    if (isWanted) this.#share = 1;
    else if (isInVain) this.#share = Math.max(LEAST_SHARE, this.#share / 2);
    this.#found = 0;
    this.#wanted = 0;
    this.#seen = 0;
  }
}
