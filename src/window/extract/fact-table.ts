import { grown } from "./grown.ts";
import { hashText } from "./hash-text.ts";
import { ORIGINS, type Origin } from "./said.ts";

/** Number of a fact: an identifier or a verbatim line from the conversation. Only a hash of its text is kept. */
export type Fact = number;

/** Number of facts to inspect for eviction, and the maximum if the first ones are held. */
const LOOKS = 8;
const MOST_LOOKS = 64;
/** A fact lives for this many messages, and for as many again for each time the assistant named it. */
const LIFE = 300;
const MOST_LIVES = 8;
const FIRST_CAPACITY = 256;
/** There are many sessions, most with small tables, so a table grows slowly to leave little space unused. */
const GROWTH = 1.5;
const MOST_COUNTED = 65_535;

/** The facts of a session, in columns. Bounded: when full, each new fact evicts one that seems no longer needed. */
export class FactTable {
  readonly #most: number;
  readonly #numbers = new Map<number, Fact>();
  #keys = new Int32Array(FIRST_CAPACITY);
  #size = 0;
  #hand = 0;
  #isLine = new Uint8Array(FIRST_CAPACITY);
  #origin = new Uint8Array(FIRST_CAPACITY);
  /**
   * Number of message parts that contain the fact; `named` counts those that the assistant wrote itself, in text or
   * calls.
   */
  seen = new Uint16Array(FIRST_CAPACITY);
  named = new Uint16Array(FIRST_CAPACITY);
  /** The last message that contains the fact; `lastNamed` is the last one in which the assistant named it. */
  last = new Int32Array(FIRST_CAPACITY);
  lastNamed = new Int32Array(FIRST_CAPACITY);
  /** The file in which the fact last appeared; 0 for none. */
  file = new Uint16Array(FIRST_CAPACITY);
  /** The ranking that last found the fact on the shelf; during that ranking its number must not be reused. */
  heldIn = new Int32Array(FIRST_CAPACITY);
  /**
   * The probability that the fact is needed again, as last computed; `neededAt` is the message it was computed at, or 0
   * once the fact has appeared again.
   */
  need = new Float32Array(FIRST_CAPACITY);
  neededAt = new Int32Array(FIRST_CAPACITY);

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  isLine(fact: Fact): boolean {
    return this.#isLine[fact] === 1;
  }

  originOf(fact: Fact): Origin {
    return ORIGINS[this.#origin[fact] as number] as Origin;
  }

  setOrigin(fact: Fact, origin: Origin): void {
    this.#origin[fact] = ORIGINS.indexOf(origin);
  }

  /** Counts one more part that contains the fact, or in which the assistant named it. */
  count(column: "seen" | "named", fact: Fact): void {
    const counts = this[column];
    counts[fact] = Math.min(MOST_COUNTED, (counts[fact] as number) + 1);
  }

  find(text: string, isLine: boolean): Fact | undefined {
    return this.#numbers.get(hashText(text, isLine ? 1 : 0));
  }

  /** The fact for this text; a new fact may reuse the number of an evicted one. */
  findOrAdd(text: string, isLine: boolean, now: number, ranking: number): Fact {
    const key = hashText(text, isLine ? 1 : 0);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const fact = this.#size < this.#most ? this.#added() : this.#freed(now, ranking);
    this.#numbers.set(key, fact);
    this.#keys[fact] = key;
    this.#isLine[fact] = isLine ? 1 : 0;
    this.last[fact] = now;
    return fact;
  }

  #added(): Fact {
    if (this.#size === this.#keys.length) this.#grow();
    return this.#size++;
  }

  #freed(now: number, ranking: number): Fact {
    let oldest = this.#hand;
    let oldestEnd = Number.POSITIVE_INFINITY;
    for (let look = 0, looks = 0; look < LOOKS && looks < MOST_LOOKS; looks++) {
      const fact = this.#hand;
      this.#hand = (this.#hand + 1) % this.#size;
      if (this.heldIn[fact] === ranking) continue;
      look++;
      const lives = 1 + Math.min(MOST_LIVES, this.named[fact] as number);
      const end = (this.last[fact] as number) + LIFE * lives;
      if (end < oldestEnd) {
        oldest = fact;
        oldestEnd = end;
      }
      if (end < now) break;
    }
    this.#numbers.delete(this.#keys[oldest] as number);
    for (const column of this.#columns()) column[oldest] = 0;
    return oldest;
  }

  #columns() {
    const { seen, named, last, lastNamed, file, heldIn, need, neededAt } = this;
    return [seen, named, last, lastNamed, file, heldIn, need, neededAt];
  }

  #grow(): void {
    const length = Math.min(this.#most, Math.ceil(this.#keys.length * GROWTH));
    this.#keys = grown(this.#keys, length);
    this.#isLine = grown(this.#isLine, length);
    this.#origin = grown(this.#origin, length);
    this.seen = grown(this.seen, length);
    this.named = grown(this.named, length);
    this.last = grown(this.last, length);
    this.lastNamed = grown(this.lastNamed, length);
    this.file = grown(this.file, length);
    this.heldIn = grown(this.heldIn, length);
    this.need = grown(this.need, length);
    this.neededAt = grown(this.neededAt, length);
  }
}
