import zlib from "node:zlib";
import { unpack } from "../body/unpack.ts";

/** The codings of a body, in the order in which they were applied; none of them is "identity". */
export function codingsOf(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ""))
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** The bytes without their codings; undefined if one is unknown, does not fit the bytes, or hides more than `maxBytes`. */
export async function decodeWhole(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let decoded = bytes;
  for (const coding of codingsOf(contentEncoding).toReversed()) {
    const unpacked = await unpack(decoded, coding, maxBytes);
    if (unpacked.type !== "unpacked") return undefined;
    decoded = unpacked.bytes;
  }
  return decoded;
}

/** Opens a stream that undoes one coding while it passes; undefined if the coding is unknown. */
export function openDecoder(coding: string): DecodingStream | undefined {
  // What was cut off is given out as far as it goes.
  if (coding === "gzip") return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "deflate") return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (coding === "zstd") return zlib.createZstdDecompress?.({ finishFlush: zlib.constants.ZSTD_e_flush });
  return undefined;
}

/** A stream that undoes a coding. */
export type DecodingStream = zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
