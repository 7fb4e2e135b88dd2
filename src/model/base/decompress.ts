import { promisify } from "node:util";
// A namespace import, because a named import of zstd fails on Node before 22.15.
import * as zlib from "node:zlib";

/** The result of decompressing a body. */
type DecompressResult =
  | { readonly type: "unpacked"; readonly bytes: Buffer }
  | { readonly type: "too-large" }
  | { readonly type: "damaged" };

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const inflate: Decompress = promisify(zlib.inflate);
const inflateRaw: Decompress = promisify(zlib.inflateRaw);

const DECOMPRESSORS: Readonly<Record<string, Decompress | undefined>> = {
  gzip: promisify(zlib.gunzip),
  br: promisify(zlib.brotliDecompress),
  deflate: (bytes, options) => (isZlib(bytes) ? inflate : inflateRaw)(bytes, options),
  zstd: zlib.zstdDecompress && promisify(zlib.zstdDecompress),
};

/** True for a supported content coding. */
export function canDecompress(coding: string): boolean {
  return Object.hasOwn(DECOMPRESSORS, coding) && DECOMPRESSORS[coding] !== undefined;
}

/** Undoes one content coding on another thread; stops as soon as the output exceeds `maxBytes`. */
export async function decompress(bytes: Buffer, coding: string, maxBytes: number): Promise<DecompressResult> {
  const undo = canDecompress(coding) ? DECOMPRESSORS[coding] : undefined;
  if (!undo) return { type: "damaged" };
  try {
    return { type: "unpacked", bytes: await undo(bytes, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { type: isTooLarge ? "too-large" : "damaged" };
  }
}

/** "deflate" means the zlib format, but some senders omit its wrapper. */
function isZlib(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && bytes.length > 1 && (first * 256 + second) % 31 === 0;
}
