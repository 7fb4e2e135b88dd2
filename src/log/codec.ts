import * as zlib from "node:zlib";
import { crc32 } from "node:zlib";
import type { EntryKind } from "../model/entry.ts";
import { LonghaulError } from "../model/errors.ts";
import { Lz4 } from "./lz4.ts";
import { PRIMER } from "./primer.ts";

/** Compression of a payload's text. Part of the file format; numbers are never reused. */
const RAW = 0;
const LZ4 = 1;
const ZSTD = 2;
const DEFLATE = 3;
const PACKINGS = 4;

/**
 * Added to the packing in the first byte of a payload with a checksum; older payloads have only the packing. Differs
 * in three bits, so that no single flipped bit turns a checked payload into an unchecked one.
 */
const CHECKED = 0b0111_0000;
/** First byte and checksum of a checked payload. */
const HEADER_BYTES = 5;

/** From this length on, zstd's better ratio outweighs the cost of calling it. */
const ZSTD_FROM_CHARACTERS = 8_192;
/** Below this size, a row is a fraction of a page either way. */
const MIN_PACKED_BYTES = 64;

const LZ4_SIZE_BYTES = 2;
const encoder = new TextEncoder();
/** Shared by all calls, which never overlap; fits the longest text that is not left to zstd. */
const lz4 = new Lz4(PRIMER, ZSTD_FROM_CHARACTERS * 3);
const unpackedText = Buffer.from(lz4.input.buffer, lz4.input.byteOffset, lz4.input.byteLength);

/** Encodes the text of an entry; the checksum covers text and kind. */
export function encodePayload(text: string, kind: EntryKind): Uint8Array {
  if (text.length >= ZSTD_FROM_CHARACTERS) return encodeLarge(text, kind);
  const size = encoder.encodeInto(text, lz4.input).written;
  if (size >= MIN_PACKED_BYTES) {
    const packed = lz4.pack(size);
    if (packed.length + LZ4_SIZE_BYTES < size) {
      const payload = allocate(HEADER_BYTES + LZ4_SIZE_BYTES + packed.length);
      payload[HEADER_BYTES] = size;
      payload[HEADER_BYTES + 1] = size >>> 8;
      payload.set(packed, HEADER_BYTES + LZ4_SIZE_BYTES);
      return writeHeader(payload, LZ4, kind);
    }
  }
  return withHeader(RAW, lz4.input.subarray(0, size), kind);
}

function encodeLarge(text: string, kind: EntryKind): Uint8Array {
  return zlib.zstdCompressSync
    ? withHeader(ZSTD, zlib.zstdCompressSync(text), kind)
    : withHeader(DEFLATE, zlib.deflateRawSync(text), kind);
}

/** Allocates from Node's pool: a separate buffer for every small payload would fragment the heap. */
function allocate(sizeBytes: number): Buffer {
  return Buffer.allocUnsafe(sizeBytes);
}

function withHeader(packing: number, bytes: Uint8Array, kind: EntryKind): Uint8Array {
  const payload = allocate(HEADER_BYTES + bytes.length);
  payload.set(bytes, HEADER_BYTES);
  return writeHeader(payload, packing, kind);
}

/** Writes the header of a payload whose body is in place. */
function writeHeader(payload: Buffer, packing: number, kind: EntryKind): Uint8Array {
  payload[0] = CHECKED | packing;
  payload.writeUInt32LE(computePayloadChecksum(payload.subarray(HEADER_BYTES), packing, kind), 1);
  return payload;
}

/** Whether a payload has a checksum, as all new payloads do. */
export function hasChecksum(payload: Uint8Array): boolean {
  return (payload[0] ?? 0) >= CHECKED;
}

/** Decodes the text of an entry; throws STORE_CORRUPT if the payload is damaged. */
export function decodePayload(payload: Uint8Array, kind: EntryKind): string {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const first = bytes[0] ?? Number.NaN;
  // Written before payloads had checksums.
  if (first < PACKINGS) return unpack(first, bytes, 1);
  const packing = first - CHECKED;
  if (!(packing >= 0 && packing < PACKINGS) || bytes.length < HEADER_BYTES)
    throw createDamagedError("no known packing");
  if (computePayloadChecksum(bytes.subarray(HEADER_BYTES), packing, kind) !== bytes.readUInt32LE(1))
    throw createDamagedError("wrong checksum");
  return unpack(packing, bytes, HEADER_BYTES);
}

function unpack(packing: number, payload: Buffer, start: number): string {
  if (packing === LZ4) {
    const size = (payload[start] as number) | ((payload[start + 1] as number) << 8);
    if (!lz4.unpack(payload, start + LZ4_SIZE_BYTES, size)) throw createDamagedError("not LZ4");
    return unpackedText.toString("utf8", 0, size);
  }
  if (packing === RAW) return payload.toString("utf8", start);
  const body = payload.subarray(start);
  try {
    if (packing === DEFLATE) return zlib.inflateRawSync(body).toString();
    if (zlib.zstdDecompressSync) return zlib.zstdDecompressSync(body).toString();
  } catch (error) {
    throw createDamagedError(packing === ZSTD ? "not zstd" : "not deflate", error);
  }
  throw createZstdError();
}

function createDamagedError(problem: string, cause?: unknown): LonghaulError {
  return new LonghaulError("STORE_CORRUPT", `The payload is damaged: ${problem}.`, { cause });
}

function createZstdError(): LonghaulError {
  return new LonghaulError(
    "CODEC_UNAVAILABLE",
    `This entry is packed with zstd, which Node ${process.version} does not have; run Node 22.15 or later.`,
  );
}

/** CRC-32 of a packed body, seeded with packing and entry kind, so that a change of either changes the checksum. */
function computePayloadChecksum(body: Uint8Array, packing: number, kind: EntryKind): number {
  return crc32(body, computeSeed(packing, kind));
}

const seeds = new Map<EntryKind, number[]>();

function computeSeed(packing: number, kind: EntryKind): number {
  let own = seeds.get(kind);
  if (!own) {
    own = [];
    seeds.set(kind, own);
  }
  own[packing] ??= crc32(`${packing} ${kind}`);
  return own[packing];
}
