import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";
import type { ContentEncoding } from "./content.ts";

/** What came out of a packed body. */
export type Unpacked =
  | { readonly type: "unpacked"; readonly bytes: Buffer }
  | { readonly type: "too-large" }
  | { readonly type: "damaged" };

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const UNPACK: Readonly<Record<Exclude<ContentEncoding, "identity">, Unpack>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  zstd: (bytes, options) => promisify(zstdDecompress)(bytes, options),
  deflate: (bytes, options) => (isZlib(bytes) ? promisify(inflate) : promisify(inflateRaw))(bytes, options),
};

/** "deflate" means zlib's wrapping, but some clients leave it off. */
function isZlib(bytes: Buffer): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;
}

/** Unpacks a body on another thread, and stops as soon as it has grown beyond `maxBytes`. */
export async function decompress(
  bytes: Buffer,
  encoding: ContentEncoding,
  maxBytes: number,
): Promise<Unpacked> {
  if (encoding === "identity") return { type: "unpacked", bytes };
  try {
    return { type: "unpacked", bytes: await UNPACK[encoding](bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { type: isTooLarge ? "too-large" : "damaged" };
  }
}
