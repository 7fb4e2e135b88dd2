import { TextDecoder } from "node:util";
import { openOutsideFile } from "../../model/base/outside-file.ts";
import type { ReadLimits } from "./read-limits.ts";
import { isCompressed, unpackFile } from "./unpack-file.ts";

const CHUNK_BYTES = 256 * 1024;

export interface BytesOptions {
  /** Start offset in decoded bytes. */
  readonly from?: number;
  readonly limits: ReadLimits;
  readonly signal?: AbortSignal;
  /** Size of one read. */
  readonly chunkBytes?: number;
  /** Called with the bytes of a plain file as they are, and the offset after them. */
  readonly onRead?: (bytes: Buffer, end: number) => void;
}

/**
 * Yields the bytes of a file: unpacked if its name ends in .gz or .zst, and converted to UTF-8 if it is UTF-16. A chunk
 * is valid until the next one is requested. Damaged compressed data is yielded up to the damage; then the generator
 * throws (`isDamaged`).
 */
export async function* readBytes(path: string, options: BytesOptions): AsyncGenerator<Buffer> {
  const { from = 0 } = options;
  if (isCompressed(path)) yield* skipBytes(convertToUtf8(unpackFile(path, options)), from);
  else if (from === 0 || (await isWide(path)))
    yield* skipBytes(convertToUtf8(readPlainBytes(path, 0, options)), from);
  else yield* readPlainBytes(path, from, options);
}

async function* readPlainBytes(
  path: string,
  from: number,
  { signal, onRead, chunkBytes = CHUNK_BYTES }: Omit<BytesOptions, "limits">,
): AsyncGenerator<Buffer> {
  const { file, sizeBytes } = await openOutsideFile(path);
  const size = Math.min(chunkBytes, sizeBytes + 1);
  const read = (buffer: Buffer, position: number) => file.read(buffer, 0, size, position);
  let [current, other] = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)];
  let reading = read(current, from);
  try {
    for (let position = from; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await reading;
      position += bytesRead;
      // The next chunk is read while the caller processes this one. A short read is the end.
      if (bytesRead === size) reading = read(other, position);
      // A failed read is reported when it is awaited.
      reading.catch(() => undefined);
      const bytes = current.subarray(0, bytesRead);
      if (bytesRead > 0) onRead?.(bytes, position);
      if (bytesRead > 0) yield bytes;
      if (bytesRead < size) return;
      [current, other] = [other, current];
    }
  } finally {
    await reading.catch(() => undefined);
    await file.close();
  }
}

async function isWide(path: string): Promise<boolean> {
  for await (const chunk of readPlainBytes(path, 0, { chunkBytes: 4 }))
    return detectWideEncoding(chunk) !== undefined;
  return false;
}

/**
 * Detects UTF-16, which programs on Windows sometimes write: by its byte order mark, or by the zero next to the first
 * bracket.
 */
function detectWideEncoding(first: Buffer): "utf-16le" | "utf-16be" | undefined {
  if (first.length < 2) return undefined;
  const [a, b] = first;
  if ((a === 0xff && b === 0xfe) || (b === 0 && (a === 0x7b || a === 0x5b))) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && (b === 0x7b || b === 0x5b))) return "utf-16be";
  return undefined;
}

/** Converts bytes to UTF-8; the first chunk determines the encoding. */
async function* convertToUtf8(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined;
  let isFirst = true;
  for await (const chunk of bytes) {
    const encoding = isFirst ? detectWideEncoding(chunk) : undefined;
    isFirst = false;
    decoder ??= encoding && new TextDecoder(encoding);
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk;
  }
  if (decoder) yield Buffer.from(decoder.decode());
}

async function* skipBytes(bytes: AsyncGenerator<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of bytes) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}
