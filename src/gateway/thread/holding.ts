/** Requests after which it is decided anew. */
const JUDGED = 256;
const LEAST_SHARE = 1 / 32;
/** Share of the requests that has to find what it wants for holding to be worth while. */
const WORTH_WHILE = 1 / 8;

/**
 * How much of the room for conversations is used. Where more of them take turns than the room holds, the one that comes
 * next is always one that was just let go: holding all the others is in vain then, and little is held.
 */
export class Holding {
  readonly #mostNames: () => number;
  readonly #left = new Map<string, number>();
  /** Bytes that were ever let go. */
  #gone = 0;
  #share = 1;
  #found = 0;
  #wanted = 0;
  #seen = 0;

  /** `mostNames` conversations that left memory are known when they come back. */
  constructor(mostNames: () => number) {
    this.#mostNames = mostNames;
  }

  /** Share of the room to be used. */
  get share(): number {
    return this.#share;
  }

  /** A conversation was asked for: it was held, or whatever is known of it; `heldBytes` are held of a room of `roomBytes`. */
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
