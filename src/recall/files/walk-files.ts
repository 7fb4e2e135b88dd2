import type { Stats } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { findOutsideText } from "../../model/base/outside-file.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { type IgnoreFile, isIgnored, parseIgnoreFile } from "./ignore-rules.ts";
import { isSecretFolder } from "./secret-files.ts";

/** A file found by a walk. */
export interface FoundFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** Files with ignore rules, lower precedence first. */
const IGNORE_FILES = [".gitignore", ".longhaulignore"] as const;
/** Names that are always left out. */
const IGNORED_NAMES = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".DS_Store"]);

/**
 * Yields all files below a folder that its ignore files do not exclude, in order; a file yields itself. Links are not
 * followed. Throws SOURCE_UNREADABLE if the root cannot be read.
 */
export async function* walkFiles(root: string, signal?: AbortSignal): AsyncGenerator<FoundFile> {
  const info = await stat(root).catch((cause: Error) => {
    const message = `${root} cannot be read: ${cause.message}.`;
    throw new LonghaulError("SOURCE_UNREADABLE", message, { cause, details: { path: root } });
  });
  if (info.isFile()) {
    // A path named by the user is meant, even if it is a link.
    yield toFoundFile(await realpath(root), info);
    return;
  }
  const above = await readIgnoreFilesAbove(root);
  yield* walkFolder({ root: above.root, folder: root, ignoring: above.files, seen: new Set(), signal });
}

interface Walk {
  /** The folder from which ignore files count: the top of the repository, or the folder itself. */
  readonly root: string;
  readonly folder: string;
  readonly ignoring: readonly IgnoreFile[];
  /** Real paths of visited folders, so that the walk never goes in circles. */
  readonly seen: Set<string>;
  readonly signal: AbortSignal | undefined;
}

async function* walkFolder({ root, folder, ignoring, seen, signal }: Walk): AsyncGenerator<FoundFile> {
  throwIfAborted(signal);
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || seen.has(real)) return;
  seen.add(real);
  const files = [...ignoring, ...(await readIgnoreFiles(root, folder))];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    if (IGNORED_NAMES.has(entry.name)) continue;
    const path = join(folder, entry.name);
    // A link may lead anywhere, including to the user's keys.
    const info = entry.isSymbolicLink() ? undefined : await lstat(path).catch(() => undefined);
    if (!info || isIgnored(toSlashes(relative(root, path)), info.isDirectory(), files)) continue;
    if (info.isDirectory() && isSecretFolder(entry.name)) continue;
    if (info.isDirectory()) yield* walkFolder({ root, folder: path, ignoring: files, seen, signal });
    else if (info.isFile()) yield toFoundFile(path, info);
  }
}

function toFoundFile(path: string, info: Stats): FoundFile {
  return { path, sizeBytes: info.size, modifiedMs: info.mtimeMs };
}

/** In a repository, the ignore files between its top and the folder count as well. */
async function readIgnoreFilesAbove(folder: string): Promise<{ root: string; files: IgnoreFile[] }> {
  const between: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) {
      const files: IgnoreFile[] = [];
      const exclude = await readRules(join(at, ".git", "info", "exclude"), "");
      for (const path of between.reverse())
        for (const one of await readIgnoreFiles(at, path)) files.push(one);
      return { root: at, files: [...exclude, ...files] };
    }
    if (dirname(at) === at) return { root: folder, files: [] };
    between.push(dirname(at));
  }
}

async function readIgnoreFiles(root: string, folder: string): Promise<IgnoreFile[]> {
  const place = toSlashes(relative(root, folder));
  const lists = await Promise.all(IGNORE_FILES.map((name) => readRules(join(folder, name), place)));
  return lists.flat();
}

/** A longer list of files to ignore is not one. */
const MAX_IGNORE_BYTES = 1_024 * 1_024;

async function readRules(path: string, folder: string): Promise<IgnoreFile[]> {
  const text = await findOutsideText(path, { maxBytes: MAX_IGNORE_BYTES, allowsLink: true });
  return text === undefined ? [] : [{ folder, rules: parseIgnoreFile(text) }];
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function toSlashes(path: string): string {
  return sep === "/" ? path : path.split(sep).join("/");
}
