import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { ProblemItem } from "../item.ts";
import { readBytes } from "./bytes.ts";
import { READ_LIMITS } from "./limits.ts";

/** A file, as far as it is known without opening it. */
export interface FileFacts {
  readonly path: string;
  /** Without .gz or .zst: what the tool called it. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly modifiedAt: number;
}

/** One folder of a tree that the user has named; or a single file, alone in its folder. */
export interface Folder {
  readonly path: string;
  readonly name: string;
  /** Files that no format has claimed yet. */
  readonly files: readonly FileFacts[];
  /** Names of the folders in it. */
  readonly folders: readonly string[];
  /** A folder below this one, by path relative to it; undefined if there is none. */
  folder(relative: string): Promise<Folder | undefined>;
  /** The first 64 KB of a file as text, unpacked, as far as it can be read. */
  head(file: FileFacts): Promise<string>;
}

const HEAD_BYTES = 64 * 1024;

/** The facts of a file; undefined if it is not a plain file. */
export async function fileFacts(path: string): Promise<FileFacts | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return undefined;
  const name = basename(path).replace(/\.(gz|zst)$/i, "");
  return { path, name, sizeBytes: stat.size, modifiedAt: Math.trunc(stat.mtimeMs) };
}

/** Tells whether a path is `root` or below it. Both must be free of links. */
export function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** What a folder needs to know of its tree. */
export interface FolderOptions {
  /** The real path of the tree. */
  readonly root: string;
  /** True for what is claimed: it is not listed. */
  readonly isClaimed: (path: string) => boolean;
  /** Told about links that lead out of the tree and folders that cannot be read. */
  readonly report: (problem: ProblemItem) => void;
}

/** Lists one folder. Links are never followed: inside the tree their targets are met anyway, outside they are refused. */
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
      const facts = await fileFacts(full);
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
  return makeFolder(path, files, folders, (relative) => {
    const below = join(path, relative);
    return isWithin(below, root) ? listBelow(below, options) : Promise.resolve(undefined);
  });
}

/** A folder that a format asks for by name: it may not exist, and it may not be a link. */
async function listBelow(path: string, options: FolderOptions): Promise<Folder | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real === path ? listFolder(path, { ...options, report: () => undefined }) : undefined;
}

/** A folder that shows one file and nothing else. */
export function folderOfFile(file: FileFacts, path: string): Folder {
  return makeFolder(path, [file], [], () => Promise.resolve(undefined));
}

function makeFolder(
  path: string,
  files: readonly FileFacts[],
  folders: readonly string[],
  folder: Folder["folder"],
): Folder {
  const heads = new Map<string, Promise<string>>();
  const head = (file: FileFacts) => {
    const known = heads.get(file.path) ?? readHead(file.path);
    heads.set(file.path, known);
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
    // What stands before the damage still tells whose file it is.
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\uFEFF/, "");
}
