import * as zlib from "node:zlib";
import { LonghaulError } from "../model/errors.ts";
import { compressBlock, decompressBlock, MAX_BLOCK_BYTES, maxCompressedBytes } from "./lz4.ts";

/** First byte of every payload: how the JSON behind it is packed. Part of the file format, never reused. */
const RAW = 0;
const LZ4 = 1;
const ZSTD = 2;
const DEFLATE = 3;

/** Below this, packing saves less than a page can hold anyway. */
const MIN_PACKED_BYTES = 160;
/** From here on zstd's better packing outweighs what a call of it costs. */
const ZSTD_FROM_CHARACTERS = 8_192;

const LZ4_HEADER_BYTES = 3;
const encoder = new TextEncoder();
/** Shared by all calls, which never overlap; room for the longest text that is not left to zstd. */
const scratch = Buffer.allocUnsafeSlow(ZSTD_FROM_CHARACTERS * 3);
const packed = Buffer.allocUnsafeSlow(maxCompressedBytes(scratch.length) + LZ4_HEADER_BYTES);
const unpacked = Buffer.allocUnsafeSlow(MAX_BLOCK_BYTES);

/** The payload that holds a JSON text. */
export function encodePayload(json: string): Uint8Array {
  if (json.length >= ZSTD_FROM_CHARACTERS) return encodeLarge(Buffer.from(json));
  const size = encoder.encodeInto(json, scratch).written;
  if (size >= MIN_PACKED_BYTES) {
    const end = compressBlock(scratch, size, packed, LZ4_HEADER_BYTES);
    if (end < size) {
      packed[0] = LZ4;
      packed[1] = size & 255;
      packed[2] = size >>> 8;
      return Uint8Array.prototype.slice.call(packed, 0, end);
    }
  }
  return withTag(RAW, scratch.subarray(0, size));
}

function encodeLarge(bytes: Buffer): Uint8Array {
  return zlib.zstdCompressSync
    ? withTag(ZSTD, zlib.zstdCompressSync(bytes))
    : withTag(DEFLATE, zlib.deflateRawSync(bytes));
}

function withTag(tag: number, bytes: Uint8Array): Uint8Array {
  const payload = new Uint8Array(bytes.length + 1);
  payload[0] = tag;
  payload.set(bytes, 1);
  return payload;
}

/** The JSON text that a payload holds; STORE_CORRUPT if it is damaged. */
export function decodePayload(payload: Uint8Array): string {
  const tag = payload[0];
  const body = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).subarray(1);
  try {
    switch (tag) {
      case RAW:
        return body.toString();
      case LZ4: {
        const size = (payload[1] as number) | ((payload[2] as number) << 8);
        if (!decompressBlock(payload, LZ4_HEADER_BYTES, unpacked, size)) break;
        return unpacked.toString("utf8", 0, size);
      }
      case ZSTD:
        if (!zlib.zstdDecompressSync) throw zstdMissing();
        return zlib.zstdDecompressSync(body).toString();
      case DEFLATE:
        return zlib.inflateRawSync(body).toString();
    }
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    throw damaged(error);
  }
  throw damaged();
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
