import { growColumn } from "./grow-column.ts";
import { TEXT_ORIGINS, type TextOrigin } from "./part-text.ts";

const FIRST_INDEX_CAPACITY = 512;

/** Share of the places in use at which the index grows. */
const MAX_LOAD = 0.6;

/** Number of a fact: an identifier or a verbatim line from the conversation. Only a hash of its text is kept. */
export type Fact = number;

/** Number of facts to inspect for eviction, and the maximum if the first ones are held. */
const LOOKS = 8;
const MAX_LOOKS = 64;
/** A fact lives for this many messages, and for as many again for each time the assistant named it. */
const LIFE = 300;
const MAX_LIVES = 8;
const FIRST_CAPACITY = 256;
/** There are many sessions, most with small tables, so a table grows slowly to leave little space unused. */
const GROWTH = 1.5;
const MAX_COUNT = 65_535;

/** The facts of a session, in columns. Bounded: when full, each new fact evicts one that seems no longer needed. */
export class FactTable {
  readonly #maxFacts: number;
  readonly #index = new FactIndex();
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
    this.#maxFacts = most;
  }

  get size(): number {
    return this.#size;
  }

  isLine(fact: Fact): boolean {
    return this.#isLine[fact] === 1;
  }

  originOf(fact: Fact): TextOrigin {
    return TEXT_ORIGINS[this.#origin[fact] as number] as TextOrigin;
  }

  /** Counts one more part that contains the fact; `origin` is an index of `TEXT_ORIGINS`. */
  countSeen(fact: Fact, now: number, origin: number, file: number): void {
    const { seen } = this;
    seen[fact] = Math.min(MAX_COUNT, (seen[fact] as number) + 1);
    this.last[fact] = now;
    this.#origin[fact] = origin;
    this.file[fact] = file;
    this.neededAt[fact] = 0;
  }

  /** Counts one more part in which the assistant named the fact. */
  countNamed(fact: Fact, now: number): void {
    const { named } = this;
    named[fact] = Math.min(MAX_COUNT, (named[fact] as number) + 1);
    this.lastNamed[fact] = now;
  }

  /** The fact with a key of `buildFactKey`. */
  find(key: number): Fact | undefined {
    return this.#index.find(key);
  }

  /** The fact with this key; a new fact may reuse the number of an evicted one. */
  findOrAdd(key: number, isLine: boolean, now: number, ranking: number): Fact {
    const known = this.#index.find(key);
    if (known !== undefined) return known;
    const fact = this.#size < this.#maxFacts ? this.#allocate() : this.#evict(now, ranking);
    this.#index.add(key, fact);
    this.#keys[fact] = key;
    this.#isLine[fact] = isLine ? 1 : 0;
    this.last[fact] = now;
    return fact;
  }

  #allocate(): Fact {
    if (this.#size === this.#keys.length) this.#grow();
    return this.#size++;
  }

  #evict(now: number, ranking: number): Fact {
    let oldest = this.#hand;
    let oldestEnd = Number.POSITIVE_INFINITY;
    for (let look = 0, looks = 0; look < LOOKS && looks < MAX_LOOKS; looks++) {
      const fact = this.#hand;
      this.#hand = (this.#hand + 1) % this.#size;
      if (this.heldIn[fact] === ranking) continue;
      look++;
      const lives = 1 + Math.min(MAX_LIVES, this.named[fact] as number);
      const end = (this.last[fact] as number) + LIFE * lives;
      if (end < oldestEnd) {
        oldest = fact;
        oldestEnd = end;
      }
      if (end < now) break;
    }
    this.#index.delete(this.#keys[oldest] as number);
    for (const column of this.#columns()) column[oldest] = 0;
    return oldest;
  }

  #columns() {
    const { seen, named, last, lastNamed, file, heldIn, need, neededAt } = this;
    return [seen, named, last, lastNamed, file, heldIn, need, neededAt];
  }

  #grow(): void {
    const length = Math.min(this.#maxFacts, Math.ceil(this.#keys.length * GROWTH));
    this.#keys = growColumn(this.#keys, length);
    this.#isLine = growColumn(this.#isLine, length);
    this.#origin = growColumn(this.#origin, length);
    this.seen = growColumn(this.seen, length);
    this.named = growColumn(this.named, length);
    this.last = growColumn(this.last, length);
    this.lastNamed = growColumn(this.lastNamed, length);
    this.file = growColumn(this.file, length);
    this.heldIn = growColumn(this.heldIn, length);
    this.need = growColumn(this.need, length);
    this.neededAt = growColumn(this.neededAt, length);
  }
}

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** The key of a fact: a 32-bit hash of the units of its text, to tell texts apart without keeping them. */
export function buildFactKey(units: Uint16Array, from: number, to: number, isLine: boolean): number {
  let hash = OFFSET ^ (isLine ? 1 : 0);
  for (let index = from; index < to; index++) hash = Math.imul(hash ^ (units[index] as number), PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Finds facts by their keys. Keys are hashes, so their lowest bits choose a place; a taken one leads to the next. */
export class FactIndex {
  #keys = new Int32Array(FIRST_INDEX_CAPACITY);
  /** Numbers of facts plus 1; 0 for a free place. */
  #facts = new Int32Array(FIRST_INDEX_CAPACITY);
  #size = 0;

  /** The fact with a key; undefined if there is none. */
  find(key: number): number | undefined {
    const fact = this.#facts[this.#findPlace(key)] as number;
    return fact === 0 ? undefined : fact - 1;
  }

  /** Adds a fact with a key that the index does not have. */
  add(key: number, fact: number): void {
    if (this.#size >= this.#keys.length * MAX_LOAD) this.#grow();
    const place = this.#findPlace(key);
    this.#keys[place] = key;
    this.#facts[place] = fact + 1;
    this.#size++;
  }

  /** Removes a key, and moves the ones after it to where they are sought. */
  delete(key: number): void {
    const mask = this.#keys.length - 1;
    let free = this.#findPlace(key);
    if (this.#facts[free] === 0) return;
    this.#size--;
    for (let place = (free + 1) & mask; this.#facts[place] !== 0; place = (place + 1) & mask) {
      const wanted = (this.#keys[place] as number) & mask;
      // It may move unless its search begins after the free place.
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      this.#keys[free] = this.#keys[place] as number;
      this.#facts[free] = this.#facts[place] as number;
      free = place;
    }
    this.#facts[free] = 0;
  }

  /** The place of a key, or the free one where it would be. */
  #findPlace(key: number): number {
    const keys = this.#keys;
    const facts = this.#facts;
    const mask = keys.length - 1;
    let place = key & mask;
    while (facts[place] !== 0 && keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, facts] = [this.#keys, this.#facts];
    this.#keys = new Int32Array(keys.length * 2);
    this.#facts = new Int32Array(keys.length * 2);
    for (let old = 0; old < keys.length; old++) {
      if (facts[old] === 0) continue;
      const place = this.#findPlace(keys[old] as number);
      this.#keys[place] = keys[old] as number;
      this.#facts[place] = facts[old] as number;
    }
  }
}
