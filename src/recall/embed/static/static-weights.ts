import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { resolvePackageFile } from "../../../model/base/package-files.ts";
import { LonghaulError } from "../../../model/errors.ts";

/**
 * The content of a weights file: the words, and a row with its factor for each word and each piece of unknown words.
 */
export interface Weights {
  readonly id: string;
  readonly dimensions: number;
  /** The words in order of their numbers, separated by newlines. */
  readonly words: string;
  /** Number of rows after those of the words that represent pieces of unknown words. */
  readonly pieces: number;
  /** Factor of each row. */
  readonly factors: Uint16Array;
  readonly rows: Int8Array;
}

const MAGIC = "LHSTATIC";
const FORMAT = 1;
const HEADER_BYTES = 64;
const CHECKED_FROM = 16;
const ID_AT = 32;
const PACKAGED_FILE = resolvePackageFile("models/embedder/static.bin");

/** Reads and checks a weights file; throws EMBEDDER_DAMAGED if it is missing, truncated or altered. */
export function readWeights(path: string | URL = PACKAGED_FILE): Weights {
  let bytes: Buffer;
  try {
    bytes = readShared(path);
  } catch (cause) {
    const isMissing = path === PACKAGED_FILE && !existsSync(path);
    const reason = isMissing ? "the package has no folder models next to dist" : "cannot be read";
    throw createWeightsError(path, reason, cause);
  }
  try {
    return unpackWeights(bytes);
  } catch (cause) {
    throw createWeightsError(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Reads a file into memory that worker threads can share. */
function readShared(path: string | URL): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.from(new SharedArrayBuffer(fstatSync(file).size));
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, { offset: length });
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function createWeightsError(path: string | URL, reason: string, cause: unknown): LonghaulError {
  const file = String(path);
  return new LonghaulError(
    "EMBEDDER_DAMAGED",
    `The embedder's weights ${file} cannot be used: ${reason}. Install the package again, or name another embedder.`,
    { cause, details: { file, reason } },
  );
}

/** Packs weights into one file: header, words, factors, rows; the header contains a checksum of everything after it. */
export function packWeights(weights: Weights): Uint8Array {
  const words = Buffer.from(weights.words, "utf8");
  const layout = computeLayout(words.length, weights.factors.length, weights.dimensions);
  const bytes = Buffer.alloc(layout.size);
  bytes.write(MAGIC, 0, "latin1");
  const counts = [weights.dimensions, weights.factors.length - weights.pieces, weights.pieces, words.length];
  bytes.writeUInt32LE(FORMAT, 8);
  counts.forEach((count, index) => void bytes.writeUInt32LE(count, CHECKED_FROM + 4 * index));
  bytes.write(weights.id, ID_AT, HEADER_BYTES - ID_AT, "latin1");
  words.copy(bytes, HEADER_BYTES);
  weights.factors.forEach((factor, index) => void bytes.writeUInt16LE(factor, layout.factorsAt + 2 * index));
  bytes.set(new Uint8Array(weights.rows.buffer, weights.rows.byteOffset, weights.rows.length), layout.rowsAt);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), 12);
  return bytes;
}

/** Unpacks weights; throws a plain Error that describes the problem. */
export function unpackWeights(bytes: Buffer): Weights {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new Error("it is not a weights file");
  if (bytes.readUInt32LE(8) !== FORMAT)
    throw new Error(`its format is ${bytes.readUInt32LE(8)}, not ${FORMAT}`);
  const [dimensions = 0, words = 0, pieces = 0, wordBytes = 0] = [0, 4, 8, 12].map((offset) =>
    bytes.readUInt32LE(CHECKED_FROM + offset),
  );
  const layout = computeLayout(wordBytes, words + pieces, dimensions);
  if (bytes.length !== layout.size) throw new Error(`it has ${bytes.length} bytes instead of ${layout.size}`);
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(12))
    throw new Error("its checksum does not match");
  const factors = toUnsigned16(bytes.subarray(layout.factorsAt, layout.rowsAt));
  return {
    id: bytes.toString("latin1", ID_AT, HEADER_BYTES).replace(/\0+$/, ""),
    dimensions,
    // Decoded on demand: the built package has a table of the words.
    get words() {
      return bytes.toString("utf8", HEADER_BYTES, HEADER_BYTES + wordBytes);
    },
    pieces,
    factors,
    rows: new Int8Array(bytes.buffer, bytes.byteOffset + layout.rowsAt, factors.length * dimensions),
  };
}

/** Converts little-endian numbers to the byte order of this machine. */
function toUnsigned16(bytes: Buffer): Uint16Array {
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(copy);
  if (endianness() === "BE") copy.swap16();
  return new Uint16Array(copy.buffer);
}

function computeLayout(wordBytes: number, rows: number, dimensions: number) {
  const factorsAt = HEADER_BYTES + wordBytes;
  const rowsAt = factorsAt + 2 * rows;
  return { factorsAt, rowsAt, size: rowsAt + rows * dimensions };
}
