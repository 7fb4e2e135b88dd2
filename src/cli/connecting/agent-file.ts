import { hash, randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { LonghaulError } from "../../kernel/index.ts";
import { readOutsideFileSync } from "../../model/base/outside-file.ts";

/** The configuration file of an agent, as it is on disk. */
export interface AgentFile {
  /** Where the agent looks; possibly a symbolic link. */
  readonly path: string;
  /** The file itself. */
  readonly realPath: string;
  /** Content; undefined if there is no file. */
  readonly bytes: Buffer | undefined;
  /** Content as text, empty if there is no file. */
  readonly text: string;
  readonly mode: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const NEW_MODE = 0o600;

/** Reads the file; throws AGENT_FILE_REFUSED if it cannot be edited safely. */
export function readAgentFile(path: string): AgentFile {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (!link) return { path, realPath: path, bytes: undefined, text: "", mode: NEW_MODE };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw createRefusal(path, "it is a link to a file that does not exist");
  if (!stats.isFile()) throw createRefusal(path, "it is not a plain file");
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stats.uid !== uid)
    throw createRefusal(path, "it belongs to another user");
  if (stats.size > MAX_BYTES) throw createRefusal(path, `it is larger than ${MAX_BYTES / 1024 / 1024} MB`);
  const realPath = realpathSync(path);
  const bytes = readOutsideFileSync(realPath, { maxBytes: MAX_BYTES });
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { path, realPath, bytes, text, mode: stats.mode & 0o7777 };
  } catch {
    throw createRefusal(path, "it is not UTF-8 text");
  }
}

/** Replaces the content atomically, keeping mode and owner; throws AGENT_FILE_REFUSED if it changed since it was read. */
export function replaceAgentFile(file: AgentFile, content: Buffer | string): void {
  const now = readAgentFile(file.path);
  const isSame = now.realPath === file.realPath && isSameContent(now.bytes, file.bytes);
  if (!isSame) throw createRefusal(file.path, "it was changed meanwhile; run the command again");
  const folder = dirname(file.realPath);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeAtomically(file.realPath, content, file.mode);
}

/** The uppermost folder that has to be made for a file; undefined if its folder exists. */
export function findMissingFolder(path: string): string | undefined {
  let missing: string | undefined;
  for (let folder = dirname(path); !existsSync(folder); folder = dirname(folder)) missing = folder;
  return missing;
}

/** Removes a folder and those above it, up to `top`, as long as they are empty. */
export function removeEmptyFolders(folder: string, top: string): void {
  try {
    for (let one = folder; one.startsWith(top); one = dirname(one)) rmdirSync(one);
  } catch {
    // Something else is in it now, or it is gone: it stays as it is.
  }
}

/** Removes a file that longhaul made. */
export function removeAgentFile({ realPath }: AgentFile): void {
  rmSync(realPath);
}

/** Writes a file under a temporary name next to it and renames it; the owner of an earlier file stays. */
export function writeAtomically(path: string, content: Buffer | string, mode: number): void {
  const owner = statSync(path, { throwIfNoEntry: false });
  const fresh = join(dirname(path), `.longhaul-${randomUUID()}`);
  try {
    const handle = openSync(fresh, "wx", mode & 0o777);
    try {
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (owner && process.getuid?.() === 0) chownSync(fresh, owner.uid, owner.gid);
    // The mode at creation is reduced by the umask.
    chmodSync(fresh, mode);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

export function digestContent(content: Buffer | string): string {
  return hash("sha256", content);
}

/** The AGENT_FILE_REFUSED error. */
export function createRefusal(path: string, reason: string, cause?: unknown): LonghaulError {
  return new LonghaulError("AGENT_FILE_REFUSED", `${path} was not changed: ${reason}.`, {
    cause,
    details: { path, reason },
  });
}

function isSameContent(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
