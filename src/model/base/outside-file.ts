import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { LonghaulError } from "../errors.ts";

/** How a file from outside is opened and read. */
interface OutsideFileOptions {
  /** Whether the last piece of the path may be a link, such as a settings file that the user keeps elsewhere. */
  readonly allowsLink?: boolean;
}

interface BoundedOptions extends OutsideFileOptions {
  /** Bytes from which a file is too large. */
  readonly maxBytes: number;
}

/** An open file, and its size when it was opened; it may have grown since. */
interface OutsideFile {
  readonly file: FileHandle;
  readonly sizeBytes: number;
  readonly stats: Stats;
}

/**
 * Opens a plain file that something outside names or made, for reading. Throws SOURCE_UNREADABLE for a link, pipe,
 * device, socket or folder, also if it has replaced the file since the folder was listed, and never waits for one.
 */
export async function openOutsideFile(path: string, options: OutsideFileOptions = {}): Promise<OutsideFile> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, toFlags(options));
    const stats = await file.stat();
    if (stats.isFile()) return { file, sizeBytes: stats.size, stats };
    throw new Error("it is not a plain file");
  } catch (error) {
    await file?.close();
    throw createReadError(path, error);
  }
}

/** Reads a plain file of at most `maxBytes`; throws SOURCE_UNREADABLE for a larger one, and as `openOutsideFile`. */
export async function readOutsideFile(path: string, options: BoundedOptions): Promise<Buffer> {
  const { file, sizeBytes } = await openOutsideFile(path, options);
  try {
    if (sizeBytes > options.maxBytes) throw createReadError(path, createSizeError(options));
    return await readStretch(file, 0, sizeBytes);
  } finally {
    await file.close();
  }
}

/** Reads a small text file as `readOutsideFile`; undefined if it is missing, too large, or not a plain file. */
export async function findOutsideText(path: string, options: BoundedOptions): Promise<string | undefined> {
  return readOutsideFile(path, options).then(
    (bytes) => bytes.toString("utf8"),
    () => undefined,
  );
}

/** Reads the last bytes of a plain file, however long it is. */
export async function readOutsideEnd(path: string, maxBytes: number): Promise<Buffer> {
  const { file, sizeBytes } = await openOutsideFile(path);
  try {
    const length = Math.min(sizeBytes, maxBytes);
    return await readStretch(file, sizeBytes - length, length);
  } finally {
    await file.close();
  }
}

/**
 * Reads like `readOutsideFile`, for programs that may stop for a moment. `check` can refuse the open file by its facts.
 */
export function readOutsideFileSync(
  path: string,
  options: BoundedOptions,
  check: (stats: Stats) => void = () => undefined,
): Buffer {
  const file = openSync(path, toFlags(options));
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error("EISDIR: it is a folder");
    if (!stats.isFile()) throw new Error("it is not a plain file");
    if (stats.size > options.maxBytes) throw createSizeError(options);
    check(stats);
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

async function readStretch(file: FileHandle, from: number, wanted: number): Promise<Buffer> {
  const bytes = Buffer.alloc(wanted);
  let length = 0;
  while (length < wanted) {
    const { bytesRead } = await file.read(bytes, length, wanted - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

function toFlags({ allowsLink = false }: OutsideFileOptions): number {
  // Without O_NONBLOCK, opening a pipe would wait until somebody writes to it. Windows has neither flag.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants;
  return O_RDONLY | O_NONBLOCK | O_NOCTTY | (allowsLink ? 0 : O_NOFOLLOW);
}

function createSizeError({ maxBytes }: BoundedOptions): Error {
  return new Error(`it is larger than ${maxBytes} bytes`);
}

function createReadError(path: string, cause: unknown): LonghaulError {
  const { message } = cause as Error;
  return new LonghaulError("SOURCE_UNREADABLE", `${path} cannot be read: ${message}.`, {
    cause,
    details: { path },
  });
}
