import { type ErrorCode, LonghaulError } from "../../model/errors.ts";

/** Maps SQLite's primary result codes to our error codes. */
const CODE_BY_RESULT: Readonly<Record<number, ErrorCode>> = {
  1: "STORE_CORRUPT", // ERROR: a table or column is missing
  3: "STORE_READ_ONLY", // PERM
  5: "STORE_BUSY", // BUSY
  6: "STORE_BUSY", // LOCKED
  8: "STORE_READ_ONLY", // READONLY
  10: "STORE_IO", // IOERR
  11: "STORE_CORRUPT", // CORRUPT
  13: "DISK_FULL", // FULL
  14: "STORE_IO", // CANTOPEN
  18: "VALUE_REFUSED", // TOOBIG
  19: "VALUE_REFUSED", // CONSTRAINT
  20: "VALUE_REFUSED", // MISMATCH
  25: "VALUE_REFUSED", // RANGE
  26: "STORE_CORRUPT", // NOTADB
};

const CODE_BY_ERRNO: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "DISK_FULL",
  EDQUOT: "DISK_FULL",
  EROFS: "STORE_READ_ONLY",
  EACCES: "STORE_READ_ONLY",
  EPERM: "STORE_READ_ONLY",
};

const MESSAGES: Partial<Record<ErrorCode, (where: string) => string>> = {
  DISK_FULL: (where) =>
    `The disk that holds ${where} is full; free some space and repeat the call. Nothing was changed.`,
  STORE_READ_ONLY: (where) =>
    `${where} cannot be written; check that folder and files belong to this user and the disk is not read-only. Nothing was changed.`,
  STORE_BUSY: (where) =>
    `${where} stayed locked by another process; repeat the call, or raise busyTimeoutMs. Nothing was changed.`,
  STORE_CORRUPT: (where) =>
    `${where} is damaged or not a longhaul database; "longhaul repair" copies what can be read into a new store, else restore it from a backup or move it away. It was left as it is.`,
  VALUE_REFUSED: (where) =>
    `${where} cannot hold a value of this write; correct the value that the reason names. Nothing was changed.`,
  STORE_IO: (where) => `The operating system failed to read or write ${where}; check the disk and the path.`,
};

/** SQLite's primary result code of an error; undefined for other errors. */
export function resultCodeOf(error: unknown): number | undefined {
  const errcode = (error as { errcode?: unknown } | null)?.errcode;
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

/** Converts an error of SQLite or the file system to its documented code; returns others unchanged. */
export function toStoreError(error: unknown, where: string): unknown {
  if (error instanceof LonghaulError) return error;
  const errno = (error as NodeJS.ErrnoException | null)?.code;
  const result = resultCodeOf(error);
  const code =
    result !== undefined
      ? (CODE_BY_RESULT[result] ?? "STORE_IO")
      : errno !== undefined
        ? CODE_BY_ERRNO[errno]
        : undefined;
  if (code === undefined)
    return isFileSystemError(error) ? createStoreError("STORE_IO", where, error) : error;
  return createStoreError(code, where, error);
}

/** The error of a code about a path. */
export function createStoreError(code: ErrorCode, where: string, cause?: unknown): LonghaulError {
  const reason = cause instanceof Error ? ` (${cause.message})` : "";
  return new LonghaulError(code, `${MESSAGES[code]?.(where) ?? `${where} failed.`}${reason}`, {
    cause,
    details: { path: where },
  });
}

function isFileSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException | null)?.syscall === "string";
}
