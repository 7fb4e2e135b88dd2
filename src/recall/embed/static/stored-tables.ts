import { readFileSync } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { resolveBuiltFile } from "../../../model/base/package-files.ts";
import { buildWordTable, findWord, type WordTable } from "./word-table.ts";

/** The token of each term, as `mapTerms` gives it. */
export type TermTable = Pick<ReadonlyMap<string, number>, "get">;

/** The tables that an embedder needs in addition to its weights, ready for use. */
export interface StoredTables {
  readonly words: WordTable;
  readonly terms: TermTable;
}

/** Path in `dist`; the build writes it, because computing the tables takes longer than a recall. */
export const TABLES_FILE = "recall/embed/static/tables.bin";

const MAGIC = "LHTABLE1";
const HEADER_BYTES = 64;
const CHECKED_FROM = 12;
const COUNTS_AT = 16;
const ID_AT = 32;
/** Longer terms are in no vocabulary. */
const MAX_TERM_UNITS = 128;

/**
 * Packs the tables of the embedder with an id. After the header come slots and starts of the words, slots, starts and
 * tokens of the terms, then the letters of both.
 */
export function packTables(id: string, words: WordTable, tokens: ReadonlyMap<string, number>): Uint8Array {
  const list = [...tokens.keys()];
  const long = list.find((term) => term.length > MAX_TERM_UNITS);
  if (long !== undefined) throw new RangeError(`The term "${long}" is longer than ${MAX_TERM_UNITS}.`);
  const terms = buildWordTable(list.join("\n"), list.length);
  const numbers = [words.slots, words.starts, terms.slots, terms.starts, Int32Array.from(tokens.values())];
  const units = [words.units, terms.units];
  const bytes = Buffer.alloc(HEADER_BYTES + 4 * countAll(numbers) + 2 * countAll(units));
  bytes.write(MAGIC, 0, "latin1");
  const counts = [words.slots.length, words.starts.length, terms.slots.length, terms.starts.length];
  counts.forEach((count, index) => void bytes.writeUInt32LE(count, COUNTS_AT + 4 * index));
  bytes.write(id, ID_AT, HEADER_BYTES - ID_AT, "latin1");
  let at = HEADER_BYTES;
  for (const part of numbers) for (const number of part) at = bytes.writeInt32LE(number, at);
  for (const part of units) for (const unit of part) at = bytes.writeUInt16LE(unit, at);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), 8);
  return bytes;
}

/** Unpacks the tables without a copy; undefined if they are damaged or were made for another embedder. */
export function unpackTables(bytes: Buffer, id: string): StoredTables | undefined {
  if (endianness() === "BE" || bytes.byteOffset % 4 !== 0 || bytes.length < HEADER_BYTES) return undefined;
  if (bytes.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  if (bytes.toString("latin1", ID_AT, HEADER_BYTES).replace(/\0+$/, "") !== id) return undefined;
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(8)) return undefined;
  let at = bytes.byteOffset + HEADER_BYTES;
  const takeNumbers = (count: number) => {
    const numbers = new Int32Array(bytes.buffer, at, count);
    at += 4 * count;
    return numbers;
  };
  const takeUnits = (count: number) => {
    const units = new Uint16Array(bytes.buffer, at, count);
    at += 2 * count;
    return units;
  };
  const countAt = (place: number) => bytes.readUInt32LE(COUNTS_AT + 4 * place);
  const words = { slots: takeNumbers(countAt(0)), starts: takeNumbers(countAt(1)) };
  const terms = { slots: takeNumbers(countAt(2)), starts: takeNumbers(countAt(3)) };
  const tokens = takeNumbers(countAt(3) - 1);
  return {
    words: { ...words, units: takeUnits(Math.max(0, (words.starts.at(-1) ?? 0) - 1)) },
    terms: createTermTable(
      { ...terms, units: takeUnits(Math.max(0, (terms.starts.at(-1) ?? 0) - 1)) },
      tokens,
    ),
  };
}

/** Reads the tables of the built package; undefined if there are none for this embedder, as when sources run. */
export function readTables(id: string): StoredTables | undefined {
  const file = resolveBuiltFile(TABLES_FILE);
  if (!file) return undefined;
  try {
    return unpackTables(readFileSync(file), id);
  } catch {
    return undefined;
  }
}

function createTermTable(terms: WordTable, tokens: Int32Array): TermTable {
  const letters = new Uint16Array(MAX_TERM_UNITS);
  return {
    get(term) {
      if (term.length > MAX_TERM_UNITS) return undefined;
      for (let place = 0; place < term.length; place++) letters[place] = term.charCodeAt(place);
      const found = findWord(terms, letters, 0, term.length);
      return found < 0 ? undefined : tokens[found];
    },
  };
}

function countAll(lists: readonly ArrayLike<number>[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0);
}
