/** An access to a file by a tool call in a session. */
export interface FileTouch {
  readonly path: string;
  readonly isEdit: boolean;
}

/** Past accesses to one file, by their number among all accesses. */
export interface TouchRecord {
  /** Number of other files touched since, and edited since; infinite if this one was not. */
  readonly touchedSince: number;
  readonly editedSince: number;
  /** Number of accesses; each 30 accesses ago counts 1/e of a present one. */
  readonly decayedCount: number;
}

/** Location of a file, as far as it helps to recognize its path in other checkouts. */
interface FilePlace {
  readonly path: string;
  /** The indexed folder that contains the file. */
  readonly root?: string;
}

const DECAY = 30;
/** A path in another checkout must agree in the name of the file and of its folder. */
const MIN_SHARED_STEPS = 2;

/** The path of a file within its indexed folder. */
export function findRelativePath({ path, root }: FilePlace): string {
  if (root === undefined) return path;
  if (path === root) return path.slice(path.lastIndexOf("/") + 1);
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** Counts accesses, newest first, by file; accesses to other files are left out, but take their place in the order. */
export function countTouches(
  files: readonly FilePlace[],
  touches: readonly FileTouch[],
): ReadonlyMap<number, TouchRecord> {
  const indexOf = buildLookup(files);
  const records = new Map<number, { touchedSince: number; editedSince: number; decayedCount: number }>();
  const touched = new Set<string>();
  const edited = new Set<string>();
  for (const [age, { path, isEdit }] of touches.entries()) {
    const index = indexOf(path);
    if (index !== undefined) {
      const record = records.get(index) ?? {
        touchedSince: touched.size,
        editedSince: Number.POSITIVE_INFINITY,
        decayedCount: 0,
      };
      if (isEdit) record.editedSince = Math.min(record.editedSince, edited.size);
      record.decayedCount += Math.exp(-age / DECAY);
      records.set(index, record);
    }
    touched.add(path);
    if (isEdit) edited.add(path);
  }
  return records;
}

/**
 * Finds the file of a path: the same path, or, for a path outside of all indexed folders, the longest end that is a
 * file's path within its folder, since worktrees and moved checkouts differ in their beginning.
 */
function buildLookup(files: readonly FilePlace[]): (path: string) => number | undefined {
  const byPath = new Map(files.map(({ path }, index) => [path, index]));
  const byRelative = new Map(files.map((file, index) => [findRelativePath(file), index]));
  const roots = [...new Set(files.flatMap(({ root }) => root ?? []))];
  const known = new Map<string, number | undefined>();
  const find = (path: string): number | undefined => {
    const same = byPath.get(path) ?? (path.startsWith("/") ? undefined : byRelative.get(path));
    if (same !== undefined || roots.some((root) => path.startsWith(`${root}/`))) return same;
    const steps = path.split("/");
    for (let from = 1; from <= steps.length - MIN_SHARED_STEPS; from++) {
      const index = byRelative.get(steps.slice(from).join("/"));
      if (index !== undefined) return index;
    }
    return undefined;
  };
  return (path) => {
    if (!known.has(path)) known.set(path, find(path));
    return known.get(path);
  };
}
