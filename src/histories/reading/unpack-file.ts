import type { FileHandle } from "node:fs/promises";
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { LonghaulError } from "../../kernel/index.ts";
import { openOutsideFile } from "../../model/base/outside-file.ts";
import { createDamageError } from "./damage-error.ts";
import type { ReadLimits } from "./read-limits.ts";

const PACKED_CHUNK_BYTES = 64 * 1024;
const UNPACKED_CHUNK_BYTES = 1024 * 1024;

/** Tells by its name whether a file is compressed. */
export function isCompressed(path: string): boolean {
  return /\.(gz|zst)$/i.test(path);
}

/**
 * Yields the bytes of a compressed file from its beginning. Yields the data before any damage; then throws
 * (`isDamaged`).
 */
export async function* unpackFile(
  path: string,
  { limits, signal }: { readonly limits: ReadLimits; readonly signal?: AbortSignal },
): AsyncGenerator<Buffer> {
  const { file, sizeBytes } = await openOutsideFile(path);
  let unpacked = 0;
  try {
    // Node stops after the first zstd frame, though a file may hold several; for gzip it reads all members.
    for (let from = 0; from < sizeBytes || from === 0; ) {
      const unpacker = createUnpacker(path);
      const feeding = feedUnpacker(unpacker, file, from);
      try {
        for await (const chunk of unpacker as AsyncIterable<Buffer>) {
          signal?.throwIfAborted();
          unpacked += chunk.length;
          const packed = from + unpacker.bytesWritten;
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
        unpacker.destroy();
        await feeding;
      }
      if (!isZstd(path) || unpacker.bytesWritten === 0) return;
      from += unpacker.bytesWritten;
    }
  } catch (error) {
    throw isUnpackError(error) ? createDamageError(path, "cannot be unpacked further", error) : error;
  } finally {
    await file.close();
  }
}

/** Writes a file into an unpacker until the unpacker is destroyed; passes errors to it. */
async function feedUnpacker(unpacker: Unpacker, file: FileHandle, from: number): Promise<void> {
  let wake: () => void = () => undefined;
  unpacker.once("close", () => wake());
  const buffer = Buffer.allocUnsafe(PACKED_CHUNK_BYTES);
  try {
    for (let position = from; !unpacker.destroyed; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      position += bytesRead;
      // If the end came together with the last chunk, the unpacker would drop that chunk of a truncated file.
      if (bytesRead === 0) return void unpacker.end();
      await new Promise<void>((resolve) => {
        wake = resolve;
        unpacker.write(buffer.subarray(0, bytesRead), () => resolve());
      });
    }
  } catch (error) {
    unpacker.destroy(error as Error);
  }
}

type Unpacker = Transform & { readonly bytesWritten: number };

function isZstd(path: string): boolean {
  return /\.zst$/i.test(path);
}

function createUnpacker(path: string): Unpacker {
  // The unpacker hands over each chunk before it makes the next, so no unpacked data of a damaged file is lost.
  const options = { chunkSize: UNPACKED_CHUNK_BYTES, readableHighWaterMark: 1 };
  if (!isZstd(path)) return zlib.createGunzip(options);
  if (typeof zlib.createZstdDecompress === "function") return zlib.createZstdDecompress(options);
  throw new LonghaulError(
    "CODEC_UNAVAILABLE",
    `${path} is compressed with zstd, which this version of Node cannot unpack; use Node 22.15 or later.`,
    { details: { path } },
  );
}

/** Tells errors of zlib from others. */
function isUnpackError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && /^(Z|ZSTD)_/.test(code);
}
