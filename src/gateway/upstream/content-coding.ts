import zlib from "node:zlib";
import { decompress } from "../../base/decompress.ts";

/** The content codings of a body, in order of application, without "identity". */
export function parseCodings(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ""))
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** The decoded bytes; undefined if a coding is unknown or invalid, or if the result exceeds `maxBytes`. */
export async function decompressBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let decoded = bytes;
  for (const coding of parseCodings(contentEncoding).toReversed()) {
    const unpacked = await decompress(decoded, coding, maxBytes);
    if (unpacked.type !== "unpacked") return undefined;
    decoded = unpacked.bytes;
  }
  return decoded;
}

/** A stream that undoes one coding; undefined if the coding is unknown. */
export function openDecoder(coding: string): DecodingStream | undefined {
  // A truncated body is decoded as far as possible.
  if (coding === "gzip") return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "deflate") return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (coding === "zstd") return zlib.createZstdDecompress?.({ finishFlush: zlib.constants.ZSTD_e_flush });
  return undefined;
}

/** A decompression stream. */
export type DecodingStream = zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
