import { endianness } from "node:os";
import type { TokenSource } from "./static-tokenizer.ts";

/** A table of words that is searched without creating strings. */
interface Vocabulary extends TokenSource {
  readonly words: number;
  /** The word of a token; undefined for a piece of an unknown word. */
  wordOf(token: number): string | undefined;
}

/** Builds the table from words separated by newlines; `pieces` rows for pieces of unknown words follow. */
export function createVocabulary(text: string, words: number, pieces: number): Vocabulary {
  const pool = toUnits(text);
  const starts = new Int32Array(words + 1);
  const mask = computeTableSize(words) - 1;
  const slots = new Int32Array(mask + 1).fill(-1);
  // A single pass over all letters, because loading happens at every start.
  let hash = HASH_START;
  for (let at = 0, word = 0; word < words; at++) {
    const letter = at < pool.length ? (pool[at] as number) : NEWLINE;
    if (letter !== NEWLINE) {
      hash = Math.imul(hash ^ letter, HASH_FACTOR);
      continue;
    }
    let slot = mixHash(hash) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = word++;
    starts[word] = at + 1;
    hash = HASH_START;
  }

  const same = (word: number, units: Uint16Array, start: number, length: number): boolean => {
    const from = starts[word] as number;
    if ((starts[word + 1] as number) - 1 - from !== length) return false;
    for (let at = 0; at < length; at++) if (pool[from + at] !== units[start + at]) return false;
    return true;
  };

  return {
    words,
    find(units, start, end) {
      let slot = hashUnits(units, start, end) & mask;
      for (let word = slots[slot] as number; word !== -1; word = slots[slot] as number) {
        if (same(word, units, start, end - start)) return word;
        slot = (slot + 1) & mask;
      }
      return -1;
    },
    piece: (hash) => words + (hash % pieces),
    wordOf: (token) =>
      token >= 0 && token < words
        ? text.slice(starts[token] as number, (starts[token + 1] as number) - 1)
        : undefined,
  };
}

const NEWLINE = 0x0a;
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

function toUnits(text: string): Uint16Array {
  const bytes = Buffer.from(text, "utf16le");
  if (endianness() === "BE") bytes.swap16();
  const copy = new Uint16Array(text.length);
  new Uint8Array(copy.buffer).set(bytes);
  return copy;
}

function computeTableSize(words: number): number {
  let size = 16;
  while (size < words * 2) size *= 2;
  return size;
}

function hashUnits(units: Uint16Array, start: number, end: number): number {
  let hash = HASH_START;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (units[at] as number), HASH_FACTOR);
  return mixHash(hash);
}

function mixHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
