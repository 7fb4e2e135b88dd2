import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { isWithin } from "../../model/base/join-inside.ts";
import type { ProblemItem } from "./item.ts";
import { readBytes } from "./read-bytes.ts";
import { READ_LIMITS } from "./read-limits.ts";

/** Facts about a file that is not opened. */
export interface FileFacts {
  readonly path: string;
  /** The tool's own file name, without .gz or .zst. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAt: number;
}

/** A folder in the tree that the user named, or a single file alone in its folder. */
export interface Folder {
  readonly path: string;
  readonly name: string;
  /** Files that no format has claimed yet. */
  readonly files: readonly FileFacts[];
  /** Names of subfolders. */
  readonly folders: readonly string[];
  /** Opens a folder by relative path; undefined if there is none. */
  folder(relative: string): Promise<Folder | undefined>;
  /** Reads the first 64 KB of a file as text, unpacked and as far as readable. */
  head(file: FileFacts): Promise<string>;
}

const HEAD_BYTES = 64 * 1024;
/** In a folder with more files, each format reads the first bytes of a file again: keeping those of all files takes too much memory. */
export const MAX_KEPT_HEADS = 256;

/** Reads the facts of a file; undefined if it is not a plain file. */
export async function readFileFacts(path: string): Promise<FileFacts | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return undefined;
  const name = basename(path).replace(/\.(gz|zst)$/i, "");
  return { path, name, sizeBytes: stat.size, modifiedAt: Math.trunc(stat.mtimeMs) };
}

/** Facts about the tree of a folder. */
interface FolderOptions {
  /** Real path of the tree. */
  readonly root: string;
  /** True for claimed paths, which are not listed. */
  readonly isClaimed: (path: string) => boolean;
  /** Called for links that lead out of the tree and for unreadable folders. */
  readonly report: (problem: ProblemItem) => void;
}

/**
 * Lists one folder. Links are never followed: targets inside the tree are listed anyway, targets outside are refused.
 */
export async function listFolder(path: string, options: FolderOptions): Promise<Folder | undefined> {
  const { root, report } = options;
  let entries: readonly {
    name: string;
    isFile(): boolean;
    isDirectory(): boolean;
    isSymbolicLink(): boolean;
  }[];
  try {
    entries = await readdir(path, { withFileTypes: true });
  } catch (error) {
    const reason = `cannot be listed: ${(error as Error).message}`;
    report({ type: "problem", path, severity: "lost", reason });
    return undefined;
  }
  const files: FileFacts[] = [];
  const folders: string[] = [];
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = join(path, entry.name);
    if (options.isClaimed(full)) continue;
    if (entry.isDirectory()) folders.push(entry.name);
    else if (entry.isFile()) {
      const facts = await readFileFacts(full);
      if (facts) files.push(facts);
    } else if (entry.isSymbolicLink()) {
      const target = await realpath(full).catch(() => undefined);
      if (target !== undefined && !isWithin(target, root)) {
        report({
          type: "problem",
          path: full,
          severity: "lost",
          reason: "a link that leads out of the given path; not followed",
        });
      }
    }
  }
  return createFolder(path, files, folders, (relative) => {
    const below = join(path, relative);
    return isWithin(below, root) ? listBelow(below, options) : Promise.resolve(undefined);
  });
}

/** Lists a folder that a format requests by name; undefined if it does not exist or is a link. */
async function listBelow(path: string, options: FolderOptions): Promise<Folder | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real === path ? listFolder(path, { ...options, report: () => undefined }) : undefined;
}

/** Creates a folder that contains only one file. */
export function createFileFolder(file: FileFacts, path: string): Folder {
  return createFolder(path, [file], [], () => Promise.resolve(undefined));
}

function createFolder(
  path: string,
  files: readonly FileFacts[],
  folders: readonly string[],
  folder: Folder["folder"],
): Folder {
  const heads = new Map<string, Promise<string>>();
  const head = (file: FileFacts) => {
    const known = heads.get(file.path) ?? readHead(file.path);
    if (files.length <= MAX_KEPT_HEADS) heads.set(file.path, known);
    return known;
  };
  return { path, name: basename(path), files, folders, folder, head };
}

async function readHead(path: string): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of readBytes(path, { limits: READ_LIMITS, chunkBytes: HEAD_BYTES })) {
      pieces.push(Buffer.from(chunk.subarray(0, HEAD_BYTES - size)));
      size += chunk.length;
      if (size >= HEAD_BYTES) break;
    }
  } catch {
    // The text before the damage still identifies the format.
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}
