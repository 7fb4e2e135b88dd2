import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { resolvePackageFile } from "../../base/package-files.ts";
import { LonghaulError } from "../../model/errors.ts";

/** The content of a reader's file. */
export interface ReaderWeights {
  /** In the order of their numbers. */
  readonly words: readonly string[];
  readonly layers: number;
  /** The numbers of the model, as the kernel reads them. */
  readonly body: Uint8Array;
}

const MAGIC = "LHREADER";
const FORMAT = 1;
const CHECKED_FROM = 16;
const HEADER_BYTES = 40;

/** The folder with the weights and the kernels. */
export const READER_FOLDER = resolvePackageFile("models/reader/");

/** Reads and checks a reader's file; throws READER_DAMAGED if it is missing, truncated or altered. */
export function readReaderWeights(path: URL | string = new URL("reader.bin", READER_FOLDER)): ReaderWeights {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw createReaderError(String(path), "it cannot be read", cause);
  }
  try {
    return unpackReaderWeights(bytes);
  } catch (cause) {
    throw createReaderError(String(path), cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** The error for a reader that cannot be used. */
export function createReaderError(file: string, reason: string, cause: unknown): LonghaulError {
  return new LonghaulError(
    "READER_DAMAGED",
    `The reader ${file} cannot be used: ${reason}. Install the package again, or recall without depth "careful".`,
    { cause, details: { file, reason } },
  );
}

/** Unpacks a reader's file; throws a plain Error that describes the problem. */
function unpackReaderWeights(bytes: Buffer): ReaderWeights {
  if (bytes.length < HEADER_BYTES || bytes.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new Error("it is not a reader's file");
  if (bytes.readUInt32LE(8) !== FORMAT)
    throw new Error(`its format is ${bytes.readUInt32LE(8)}, not ${FORMAT}`);
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(12))
    throw new Error("its checksum does not match");
  const [words, layers, textBytes] = [16, 20, 24].map((at) => bytes.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const text = bytes.toString("utf8", HEADER_BYTES, HEADER_BYTES + textBytes);
  return {
    words: text.split("\n").slice(0, words),
    layers,
    body: bytes.subarray(HEADER_BYTES + textBytes),
  };
}
