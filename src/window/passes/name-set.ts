/** Character classes: those that form words, and those that join words to paths and dotted names. */
const WORD = 1;
const JOINT = 2;
const KINDS = new Uint8Array(128);
for (const letter of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") {
  KINDS[letter.charCodeAt(0)] = WORD;
}
for (const letter of "./-") KINDS[letter.charCodeAt(0)] = JOINT;

const MIN_LENGTH = 4;
const BUCKETS = 1 << 16;

/** A set of names that finds its members in a text with a single scan. */
export class NameSet {
  readonly #names = new Set<string>();
  readonly #buckets = new Uint8Array(BUCKETS);

  add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    let hash = 0;
    for (let at = 0; at < name.length; at++) hash = mixHash(hash, name.charCodeAt(at));
    this.#buckets[hash & (BUCKETS - 1)] = 1;
  }

  /** True if a range of a text contains one of the names, as a word or as a path or dotted name. */
  isIn(text: string, from: number, to: number): boolean {
    let word = 0;
    let wordFrom = from;
    let path = 0;
    let pathFrom = from;
    for (let at = from; at <= to; at++) {
      const code = at < to ? text.charCodeAt(at) : 0;
      const kind = code < 128 ? KINDS[code] : 0;
      if (kind === WORD) {
        word = mixHash(word, code);
        path = mixHash(path, code);
        continue;
      }
      if (this.#has(word, text, wordFrom, at)) return true;
      word = 0;
      wordFrom = at + 1;
      if (kind === JOINT) {
        path = mixHash(path, code);
        continue;
      }
      if (this.#has(path, text, pathFrom, at)) return true;
      path = 0;
      pathFrom = at + 1;
    }
    return false;
  }

  #has(hash: number, text: string, from: number, to: number): boolean {
    if (to - from < MIN_LENGTH || this.#buckets[hash & (BUCKETS - 1)] === 0) return false;
    return this.#names.has(text.slice(from, to));
  }
}

function mixHash(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) | 0;
}
