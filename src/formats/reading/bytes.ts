import { constants, createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { LonghaulError } from "../../index.ts";
import type { ReadLimits } from "./limits.ts";

const CHUNK_BYTES = 1024 * 1024;

/** How a file's bytes are to be read. */
export interface BytesOptions {
  /** Where to begin, in bytes of what is yielded. */
  readonly from?: number;
  readonly limits: ReadLimits;
  readonly signal?: AbortSignal;
}

/** Tells by its name whether a file is compressed. */
export function isCompressed(path: string): boolean {
  return /\.(gz|zst)$/i.test(path);
}

/**
 * The bytes of a file: unpacked if its name ends in .gz or .zst, and as UTF-8 if it is UTF-16. A chunk is valid until
 * the next one is asked for.
 */
export async function* readBytes(path: string, options: BytesOptions): AsyncGenerator<Buffer> {
  const { from = 0 } = options;
  const raw = (position: number) =>
    isCompressed(path) ? unpackedBytes(path, options) : plainBytes(path, position, options.signal);
  const wide = wideEncodingOf(await firstBytes(raw(0)));
  if (wide) yield* skip(narrowed(raw(0), wide), from);
  else if (isCompressed(path)) yield* skip(raw(0), from);
  else yield* raw(from);
}

async function* plainBytes(
  path: string,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  // A link may have taken the file's place since the folder was read; it is refused here as well.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = from; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function* unpackedBytes(path: string, { limits, signal }: BytesOptions): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { flags: constants.O_RDONLY | constants.O_NOFOLLOW } as never);
  const unpacker = /\.gz$/i.test(path) ? zlib.createGunzip({ chunkSize: CHUNK_BYTES }) : zstdUnpacker(path);
  let packed = 0;
  let unpacked = 0;
  file.on("data", (chunk) => {
    packed += chunk.length;
  });
  file.on("error", (error) => unpacker.destroy(error));
  file.pipe(unpacker);
  try {
    for await (const chunk of unpacker as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      unpacked += chunk.length;
      if (unpacked > limits.freeExpansionBytes && unpacked > packed * limits.maxExpansion) {
        throw new LonghaulError(
          "SOURCE_UNREADABLE",
          `${path} grows more than ${limits.maxExpansion} times when unpacked and was left at ${unpacked} bytes; unpack it yourself if it is what it says.`,
          { details: { path } },
        );
      }
      yield chunk;
    }
  } finally {
    file.destroy();
    unpacker.destroy();
  }
}

function zstdUnpacker(path: string): Transform {
  if (typeof zlib.createZstdDecompress === "function")
    return zlib.createZstdDecompress({ chunkSize: CHUNK_BYTES });
  throw new LonghaulError(
    "CODEC_UNAVAILABLE",
    `${path} is compressed with zstd, which this version of Node cannot unpack; use Node 22.15 or later.`,
    { details: { path } },
  );
}

async function firstBytes(bytes: AsyncGenerator<Buffer>): Promise<Buffer> {
  for await (const chunk of bytes) return Buffer.from(chunk.subarray(0, 4));
  return Buffer.alloc(0);
}

/** Programs on Windows write UTF-16 now and then: with a mark, or plain to see from the zero beside the first bracket. */
function wideEncodingOf(first: Buffer): "utf-16le" | "utf-16be" | undefined {
  if (first.length < 2) return undefined;
  const [a, b] = first;
  if ((a === 0xff && b === 0xfe) || (b === 0 && (a === 0x7b || a === 0x5b))) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && (b === 0x7b || b === 0x5b))) return "utf-16be";
  return undefined;
}

async function* narrowed(
  bytes: AsyncGenerator<Buffer>,
  encoding: "utf-16le" | "utf-16be",
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}

async function* skip(bytes: AsyncGenerator<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}
