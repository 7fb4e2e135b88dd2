import { endianness } from "node:os";

/** Words with their numbers, in a hash table that is searched without creating strings. */
export interface WordTable {
  /** The words one after another, each with a newline after it. */
  readonly units: Uint16Array;
  /** Where each word begins in `units`; one more than there are words. */
  readonly starts: Int32Array;
  /** Numbers of words by hash, -1 where there is none; the length is a power of two. */
  readonly slots: Int32Array;
}

const NEWLINE = 0x0a;
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;

/** Builds the table from `words` words that are separated by newlines. */
export function buildWordTable(text: string, words: number): WordTable {
  const units = toUnits(text);
  const starts = new Int32Array(words + 1);
  const slots = new Int32Array(computeTableSize(words)).fill(-1);
  const mask = slots.length - 1;
  // A single pass over all letters, because loading happens at every start.
  let hash = HASH_START;
  for (let at = 0, word = 0; word < words; at++) {
    const letter = at < units.length ? (units[at] as number) : NEWLINE;
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
  return { units, starts, slots };
}

/** Number of the word that stands in `letters` from `start` to `end`; -1 if the table lacks it. */
export function findWord(
  { units, starts, slots }: WordTable,
  letters: Uint16Array,
  start: number,
  end: number,
): number {
  const mask = slots.length - 1;
  let slot = hashUnits(letters, start, end) & mask;
  for (let word = slots[slot] as number; word !== -1; word = slots[slot] as number) {
    const from = starts[word] as number;
    if (
      (starts[word + 1] as number) - 1 - from === end - start &&
      hasSameUnits(units, from, letters, start, end)
    )
      return word;
    slot = (slot + 1) & mask;
  }
  return -1;
}

/** The word with a number; undefined if there is none. */
export function readWord({ units, starts }: WordTable, word: number): string | undefined {
  if (word < 0 || word >= starts.length - 1) return undefined;
  return String.fromCharCode(...units.subarray(starts[word], (starts[word + 1] as number) - 1));
}

function hasSameUnits(
  units: Uint16Array,
  from: number,
  letters: Uint16Array,
  start: number,
  end: number,
): boolean {
  for (let at = start, own = from; at < end; at++, own++) if (units[own] !== letters[at]) return false;
  return true;
}

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
