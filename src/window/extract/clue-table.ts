import { growColumn } from "./grow-column.ts";
import { TEXT_ORIGINS, type TextOrigin } from "./part-text.ts";

const FIRST_INDEX_CAPACITY = 512;

/** Share of the places in use at which the index grows. */
const MAX_LOAD = 0.6;

/** Number of a clue: an identifier or a verbatim line from the conversation. Only a hash of its text is kept. */
export type Clue = number;

/** Number of clues to inspect for eviction, and the maximum if the first ones are held. */
const LOOKS = 8;
const MAX_LOOKS = 64;
/** A clue lives for this many messages, and for as many again for each time the assistant named it. */
const LIFE = 300;
const MAX_LIVES = 8;
const FIRST_CAPACITY = 256;
/** There are many sessions, most with small tables, so a table grows slowly to leave little space unused. */
const GROWTH = 1.5;
const MAX_COUNT = 65_535;

/** The clues of a session, in columns. Bounded: when full, each new clue evicts one that seems no longer needed. */
export class ClueTable {
  readonly #maxClues: number;
  readonly #index = new ClueIndex();
  #keys = new Int32Array(FIRST_CAPACITY);
  #size = 0;
  #hand = 0;
  #isLine = new Uint8Array(FIRST_CAPACITY);
  #origin = new Uint8Array(FIRST_CAPACITY);
  /**
   * Number of message parts that contain the clue; `named` counts those that the assistant wrote itself, in text or
   * calls.
   */
  seen = new Uint16Array(FIRST_CAPACITY);
  named = new Uint16Array(FIRST_CAPACITY);
  /** The last message that contains the clue; `lastNamed` is the last one in which the assistant named it. */
  last = new Int32Array(FIRST_CAPACITY);
  lastNamed = new Int32Array(FIRST_CAPACITY);
  /** The file in which the clue last appeared; 0 for none. */
  file = new Uint16Array(FIRST_CAPACITY);
  /** The ranking that last found the clue on the shelf; during that ranking its number must not be reused. */
  heldIn = new Int32Array(FIRST_CAPACITY);
  /**
   * The probability that the clue is needed again, as last computed; `neededAt` is the message it was computed at, or 0
   * once the clue has appeared again.
   */
  need = new Float32Array(FIRST_CAPACITY);
  neededAt = new Int32Array(FIRST_CAPACITY);

  constructor(most: number) {
    this.#maxClues = most;
  }

  get size(): number {
    return this.#size;
  }

  isLine(clue: Clue): boolean {
    return this.#isLine[clue] === 1;
  }

  originOf(clue: Clue): TextOrigin {
    return TEXT_ORIGINS[this.#origin[clue] as number] as TextOrigin;
  }

  /** Counts one more part that contains the clue; `origin` is an index of `TEXT_ORIGINS`. */
  countSeen(clue: Clue, now: number, origin: number, file: number): void {
    const { seen } = this;
    seen[clue] = Math.min(MAX_COUNT, (seen[clue] as number) + 1);
    this.last[clue] = now;
    this.#origin[clue] = origin;
    this.file[clue] = file;
    this.neededAt[clue] = 0;
  }

  /** Counts one more part in which the assistant named the clue. */
  countNamed(clue: Clue, now: number): void {
    const { named } = this;
    named[clue] = Math.min(MAX_COUNT, (named[clue] as number) + 1);
    this.lastNamed[clue] = now;
  }

  /** The clue with a key of `buildClueKey`. */
  find(key: number): Clue | undefined {
    return this.#index.find(key);
  }

  /** The clue with this key; a new clue may reuse the number of an evicted one. */
  findOrAdd(key: number, isLine: boolean, now: number, ranking: number): Clue {
    const known = this.#index.find(key);
    if (known !== undefined) return known;
    const clue = this.#size < this.#maxClues ? this.#allocate() : this.#evict(now, ranking);
    this.#index.add(key, clue);
    this.#keys[clue] = key;
    this.#isLine[clue] = isLine ? 1 : 0;
    this.last[clue] = now;
    return clue;
  }

  #allocate(): Clue {
    if (this.#size === this.#keys.length) this.#grow();
    return this.#size++;
  }

  #evict(now: number, ranking: number): Clue {
    let oldest = this.#hand;
    let oldestEnd = Number.POSITIVE_INFINITY;
    for (let look = 0, looks = 0; look < LOOKS && looks < MAX_LOOKS; looks++) {
      const clue = this.#hand;
      this.#hand = (this.#hand + 1) % this.#size;
      if (this.heldIn[clue] === ranking) continue;
      look++;
      const lives = 1 + Math.min(MAX_LIVES, this.named[clue] as number);
      const end = (this.last[clue] as number) + LIFE * lives;
      if (end < oldestEnd) {
        oldest = clue;
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
    const length = Math.min(this.#maxClues, Math.ceil(this.#keys.length * GROWTH));
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

/** The key of a clue: a 32-bit hash of the units of its text, to tell texts apart without keeping them. */
export function buildClueKey(units: Uint16Array, from: number, to: number, isLine: boolean): number {
  let hash = OFFSET ^ (isLine ? 1 : 0);
  for (let index = from; index < to; index++) hash = Math.imul(hash ^ (units[index] as number), PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Finds clues by their keys. Keys are hashes, so their lowest bits choose a place; a taken one leads to the next. */
export class ClueIndex {
  #keys = new Int32Array(FIRST_INDEX_CAPACITY);
  /** Numbers of clues plus 1; 0 for a free place. */
  #clues = new Int32Array(FIRST_INDEX_CAPACITY);
  #size = 0;

  /** The clue with a key; undefined if there is none. */
  find(key: number): number | undefined {
    const clue = this.#clues[this.#findPlace(key)] as number;
    return clue === 0 ? undefined : clue - 1;
  }

  /** Adds a clue with a key that the index does not have. */
  add(key: number, clue: number): void {
    if (this.#size >= this.#keys.length * MAX_LOAD) this.#grow();
    const place = this.#findPlace(key);
    this.#keys[place] = key;
    this.#clues[place] = clue + 1;
    this.#size++;
  }

  /** Removes a key, and moves the ones after it to where they are sought. */
  delete(key: number): void {
    const mask = this.#keys.length - 1;
    let free = this.#findPlace(key);
    if (this.#clues[free] === 0) return;
    this.#size--;
    for (let place = (free + 1) & mask; this.#clues[place] !== 0; place = (place + 1) & mask) {
      const wanted = (this.#keys[place] as number) & mask;
      // It may move unless its search begins after the free place.
      if (((place - wanted) & mask) < ((place - free) & mask)) continue;
      this.#keys[free] = this.#keys[place] as number;
      this.#clues[free] = this.#clues[place] as number;
      free = place;
    }
    this.#clues[free] = 0;
  }

  /** The place of a key, or the free one where it would be. */
  #findPlace(key: number): number {
    const keys = this.#keys;
    const clues = this.#clues;
    const mask = keys.length - 1;
    let place = key & mask;
    while (clues[place] !== 0 && keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, clues] = [this.#keys, this.#clues];
    this.#keys = new Int32Array(keys.length * 2);
    this.#clues = new Int32Array(keys.length * 2);
    for (let old = 0; old < keys.length; old++) {
      if (clues[old] === 0) continue;
      const place = this.#findPlace(keys[old] as number);
      this.#keys[place] = keys[old] as number;
      this.#clues[place] = clues[old] as number;
    }
  }
}
