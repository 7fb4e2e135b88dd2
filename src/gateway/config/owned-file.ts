import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** A larger file is not a configuration. */
const MAX_FILE_BYTES = 1_024 * 1_024;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Reads a file that only its owner can change; throws if it belongs to another user or is writable by others. */
export function readOwnedFile(path: string): Buffer {
  return readFileOnce(path, (stats) => {
    const problem = findOwnerProblem(stats, path) ?? findOwnerProblem(statSync(dirname(path)), dirname(path));
    if (problem !== undefined) throw new Error(problem);
  });
}

/** Reads a regular file of bounded size; never waits for a pipe or device, and never follows a symbolic link. */
export function readForeignFile(path: string): Buffer {
  return readFileOnce(path, () => {}, constants.O_NOFOLLOW ?? 0);
}

/** Checks and reads the same open file, so that it cannot be replaced in between. */
function readFileOnce(path: string, check: (stats: Stats) => void, flags = 0): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error("EISDIR: it is a folder");
    if (!stats.isFile()) throw new Error("it is no regular file");
    if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    check(stats);
    const bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      length += read;
      if (length > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
      if (read === 0) return Buffer.from(bytes.subarray(0, length));
    }
  } finally {
    closeSync(file);
  }
}

/** States who, other than this user and the administrator, can change a file or folder. */
function findOwnerProblem({ uid, mode }: Stats, path: string): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  if (uid !== own && uid !== 0)
    return `${path} belongs to another user (uid ${uid}); make a copy of your own`;
  const isShared = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0;
  return isShared ? `others can write ${path}; "chmod go-w ${path}" takes that away` : undefined;
}
