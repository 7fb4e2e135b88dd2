import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LonghaulError } from "../kernel/index.ts";
import { isWithin } from "../model/base/join-inside.ts";
import { checkFormats, checkPaths, checkSignal } from "./check-arguments.ts";
import { identifySource } from "./importing/source-identity.ts";
import type { Format, ImportSource } from "./port/format.ts";
import { createFileFolder, type Folder, listFolder, readFileFacts } from "./reading/folder.ts";
import type { ProblemItem } from "./reading/item.ts";

/** A source with its format and root. */
export interface FoundSource {
  readonly source: ImportSource;
  readonly format: Format;
  /** Real path of the tree that the user named; nothing outside is read. */
  readonly root: string;
}

/** Folders without conversations that may be huge. */
export const SKIPPED_FOLDERS = new Set(["node_modules", ".git"]);
const MAX_DEPTH = 24;

/**
 * Yields the conversations below the paths in tree order, parents before sub-agents within a folder, and problems as
 * they occur.
 */
export async function* findSources(
  paths: readonly string[],
  formats: readonly Format[],
  signal?: AbortSignal,
): AsyncGenerator<FoundSource | ProblemItem> {
  checkPaths(paths);
  checkFormats(formats);
  checkSignal(signal);
  const claimed = new Set<string>();
  for (const path of paths) {
    const root = await realpath(path).catch((error) => {
      throw new LonghaulError("SOURCE_UNREADABLE", `${path} cannot be read: ${error.message}.`, {
        cause: error,
        details: { path },
      });
    });
    if (isCovered(root, claimed)) continue;
    const file = await readFileFacts(root);
    if (file) yield* claimSources(createFileFolder(file, dirname(root)), formats, root, claimed);
    else yield* walkFolder(root, { formats, root, claimed, depth: 0, signal });
  }
}

interface WalkState {
  readonly formats: readonly Format[];
  readonly root: string;
  readonly claimed: Set<string>;
  readonly depth: number;
  readonly signal: AbortSignal | undefined;
}

async function* walkFolder(path: string, walk_: WalkState): AsyncGenerator<FoundSource | ProblemItem> {
  walk_.signal?.throwIfAborted();
  const problems: ProblemItem[] = [];
  const { root, claimed, formats, depth } = walk_;
  const isClaimed = (candidate: string) => isCovered(candidate, claimed);
  const folder = await listFolder(path, { root, isClaimed, report: (problem) => problems.push(problem) });
  yield* problems;
  if (!folder) return;
  yield* claimSources(folder, formats, root, claimed);
  if (depth === MAX_DEPTH) {
    const reason = `more than ${MAX_DEPTH} folders deep; what is below was not looked at`;
    if (folder.folders.length > 0) yield { type: "problem", path, severity: "lost", reason };
    return;
  }
  for (const name of folder.folders) {
    const below = join(path, name);
    if (!SKIPPED_FOLDERS.has(name) && !isClaimed(below))
      yield* walkFolder(below, { ...walk_, depth: depth + 1 });
  }
}

/** Offers the folder to each format in turn; files claimed by one format are hidden from the next. */
async function* claimSources(
  folder: Folder,
  formats: readonly Format[],
  root: string,
  claimed: Set<string>,
): AsyncGenerator<FoundSource | ProblemItem> {
  for (const format of formats) {
    const files = folder.files.filter((file) => !isCovered(file.path, claimed));
    let sources: readonly ImportSource[] = [];
    try {
      sources = await format.detect({ ...folder, files });
    } catch (error) {
      const reason = `cannot be searched for conversations of ${format.title}: ${(error as Error).message}`;
      yield { type: "problem", path: folder.path, severity: "lost", reason };
    }
    for (const source of sources) {
      yield { source: identifySource(source), format, root };
      for (const path of source.paths) if (isWithin(path, root)) claimed.add(path);
    }
  }
}

/** Tells whether a path is claimed or below a claimed folder. */
function isCovered(path: string, claimed: ReadonlySet<string>): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (claimed.has(at)) return true;
    if (at === dirname(at)) return false;
  }
}
