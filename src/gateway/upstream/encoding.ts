import { promisify } from "node:util";
import zlib from "node:zlib";

/** Undoes one coding of a body in one piece, up to so many bytes. */
type Undo = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

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
    const undo = UNDO[coding];
    if (!undo) return undefined;
    try {
      decoded = await undo(decoded, { maxOutputLength: maxBytes });
    } catch {
      return undefined;
    }
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

const inflate: Undo = promisify(zlib.inflate);
const inflateRaw: Undo = promisify(zlib.inflateRaw);

const UNDO: Readonly<Record<string, Undo | undefined>> = {
  gzip: promisify(zlib.gunzip),
  // Some servers leave out the wrapper that the name promises.
  deflate: (bytes, options) => inflate(bytes, options).catch(() => inflateRaw(bytes, options)),
  br: promisify(zlib.brotliDecompress),
  zstd: zlib.zstdDecompress && promisify(zlib.zstdDecompress),
};
