import { readFileSync } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { resolveBuiltFile } from "../../../base/package-files.ts";
import { buildWordTable, findWord } from "./word-table.ts";

/** The token of each term, as `mapTerms` gives it. */
export type TermTable = Pick<ReadonlyMap<string, number>, "get">;

/** Path in `dist`; the build writes it, because stemming the whole vocabulary takes longer than a recall. */
export const TERM_TABLE_FILE = "memory/embed/static/terms.bin";

const MAGIC = "LHTERMS1";
const HEADER_BYTES = 64;
const CHECKED_FROM = 12;
const COUNTS_AT = 16;
const ID_AT = 32;
/** Longer terms are in no vocabulary. */
const MAX_TERM_UNITS = 128;

/** Packs the tokens of terms for the embedder with an id: header, slots, starts, tokens, letters. */
export function packTermTable(id: string, tokens: ReadonlyMap<string, number>): Uint8Array {
  const terms = [...tokens.keys()];
  const long = terms.find((term) => term.length > MAX_TERM_UNITS);
  if (long !== undefined) throw new RangeError(`The term "${long}" is longer than ${MAX_TERM_UNITS}.`);
  const { slots, starts, units } = buildWordTable(terms.join("\n"), terms.length);
  const numbers = [slots, starts, Int32Array.from(tokens.values())];
  const bytes = Buffer.alloc(HEADER_BYTES + 4 * countAll(numbers) + 2 * units.length);
  bytes.write(MAGIC, 0, "latin1");
  bytes.writeUInt32LE(slots.length, COUNTS_AT);
  bytes.writeUInt32LE(terms.length, COUNTS_AT + 4);
  bytes.write(id, ID_AT, HEADER_BYTES - ID_AT, "latin1");
  let at = HEADER_BYTES;
  for (const list of numbers) for (const number of list) at = bytes.writeInt32LE(number, at);
  for (const unit of units) at = bytes.writeUInt16LE(unit, at);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), 8);
  return bytes;
}

/** Unpacks the table without a copy; undefined if it is damaged or was made for another embedder. */
export function unpackTermTable(bytes: Buffer, id: string): TermTable | undefined {
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
  const slots = takeNumbers(bytes.readUInt32LE(COUNTS_AT));
  const terms = bytes.readUInt32LE(COUNTS_AT + 4);
  const starts = takeNumbers(terms + 1);
  const tokens = takeNumbers(terms);
  const units = new Uint16Array(bytes.buffer, at, (bytes.byteOffset + bytes.length - at) / 2);
  const table = { slots, starts, units };
  const letters = new Uint16Array(MAX_TERM_UNITS);
  return {
    get(term) {
      if (term.length > MAX_TERM_UNITS) return undefined;
      for (let place = 0; place < term.length; place++) letters[place] = term.charCodeAt(place);
      const found = findWord(table, letters, 0, term.length);
      return found < 0 ? undefined : tokens[found];
    },
  };
}

/** Reads the table of the built package; undefined if there is none for this embedder, as when sources run. */
export function readTermTable(id: string): TermTable | undefined {
  const file = resolveBuiltFile(TERM_TABLE_FILE);
  if (!file) return undefined;
  try {
    return unpackTermTable(readFileSync(file), id);
  } catch {
    return undefined;
  }
}

function countAll(lists: readonly ArrayLike<number>[]): number {
  return lists.reduce((sum, { length }) => sum + length, 0);
}
