import * as zlib from "node:zlib";
import { LonghaulError } from "../model/errors.ts";
import { Lz4 } from "./lz4.ts";
import { PRIMER } from "./primer.ts";

/** First byte of every payload: how the text behind it is packed. Part of the file format, never reused. */
const RAW = 0;
const LZ4 = 1;
const ZSTD = 2;
const DEFLATE = 3;

/** From here on zstd's better packing outweighs what a call of it costs. */
const ZSTD_FROM_CHARACTERS = 8_192;
/** Below this a row is a fraction of a page either way. */
const MIN_PACKED_BYTES = 64;

const LZ4_HEADER_BYTES = 3;
const encoder = new TextEncoder();
/** One for all calls, which never overlap; takes the longest text that is not left to zstd. */
const lz4 = new Lz4(PRIMER, ZSTD_FROM_CHARACTERS * 3);
const unpackedText = Buffer.from(lz4.input.buffer, lz4.input.byteOffset, lz4.input.byteLength);

/** The payload that holds a text. */
export function encodePayload(text: string): Uint8Array {
  if (text.length >= ZSTD_FROM_CHARACTERS) return encodeLarge(text);
  const size = encoder.encodeInto(text, lz4.input).written;
  if (size >= MIN_PACKED_BYTES) {
    const packed = lz4.pack(size);
    if (packed.length + LZ4_HEADER_BYTES <= size) {
      const payload = allocate(packed.length + LZ4_HEADER_BYTES);
      payload[0] = LZ4;
      payload[1] = size;
      payload[2] = size >>> 8;
      payload.set(packed, LZ4_HEADER_BYTES);
      return payload;
    }
  }
  return withTag(RAW, lz4.input.subarray(0, size));
}

function encodeLarge(text: string): Uint8Array {
  return zlib.zstdCompressSync
    ? withTag(ZSTD, zlib.zstdCompressSync(text))
    : withTag(DEFLATE, zlib.deflateRawSync(text));
}

/** From Node's pool: a buffer of its own for every small payload would fragment the heap of the process. */
function allocate(sizeBytes: number): Uint8Array {
  return Buffer.allocUnsafe(sizeBytes);
}

function withTag(tag: number, bytes: Uint8Array): Uint8Array {
  const payload = allocate(bytes.length + 1);
  payload[0] = tag;
  payload.set(bytes, 1);
  return payload;
}

/** The text that a payload holds; STORE_CORRUPT if it is damaged. */
export function decodePayload(payload: Uint8Array): string {
  const tag = payload[0];
  if (tag === LZ4) {
    const size = (payload[1] as number) | ((payload[2] as number) << 8);
    if (!lz4.unpack(payload, LZ4_HEADER_BYTES, size)) throw damaged();
    return unpackedText.toString("utf8", 0, size);
  }
  const body = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).subarray(1);
  if (tag === RAW) return body.toString();
  try {
    if (tag === ZSTD && zlib.zstdDecompressSync) return zlib.zstdDecompressSync(body).toString();
    if (tag === DEFLATE) return zlib.inflateRawSync(body).toString();
  } catch (error) {
    throw damaged(error);
  }
  throw tag === ZSTD ? zstdMissing() : damaged();
}

function damaged(cause?: unknown): LonghaulError {
  return new LonghaulError(
    "STORE_CORRUPT",
    "An entry's payload is damaged; restore the store from a backup. Other entries can still be read.",
    { cause },
  );
}

function zstdMissing(): LonghaulError {
  return new LonghaulError(
    "CODEC_UNAVAILABLE",
    `This entry is packed with zstd, which Node ${process.version} does not have; run Node 22.15 or later.`,
  );
}
