import { findRuns, type LineCut } from "./line-cut.ts";

const MIN_PATH_CHARACTERS = 12;
/** A line that a search has found: a path, then the number of the line. */
const HIT = /^((?:[A-Za-z]:)?[^\s:]{3,300}?):\d+:/;
/** A line around one: the same with dashes, which may also stand in the path. */
const NEIGHBOR = /-\d+-/g;
const MAX_NEIGHBOR_PATH = 310;
/** Line between two places of a file. */
const BREAK = "--";

/** Hits of a search and the lines around them, in one file: the path stands once above them instead of before each line. */
export function cutSearchPaths(
  lines: readonly string[],
  isFree: (index: number) => boolean,
): readonly LineCut[] {
  const paths = findPaths(lines, isFree);
  const cuts: LineCut[] = [];
  for (const run of findRuns(lines, (index) => paths[index] !== undefined, 2)) {
    for (let from = run.from; from <= run.to; ) {
      let path = paths[from] as string;
      let to = from;
      let count = path === BREAK ? 0 : 1;
      for (let next = from + 1; next <= run.to && path !== BREAK; next++) {
        const other = paths[next] as string;
        if (other === BREAK) continue;
        if (!isSamePath(path, other)) break;
        if (other.length > path.length) path = other;
        to = next;
        count++;
      }
      if (count >= 2 && path.length >= MIN_PATH_CHARACTERS) {
        const hits = lines.slice(from, to + 1).map((line, index) => {
          const own = paths[from + index] as string;
          return own === BREAK ? line : line.slice(own.length + 1);
        });
        cuts.push({ from, to, lines: [`${path}:`, ...hits] });
      }
      from = to + 1;
    }
  }
  return cuts;
}

/** The path that each line begins with; the break itself for a break between two places. */
function findPaths(lines: readonly string[], isFree: (index: number) => boolean): readonly (string | undefined)[] {
  const paths = lines.map((line, index) => (isFree(index) ? HIT.exec(line)?.[1] : undefined));
  const names = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    if (path === undefined) continue;
    const name = getBaseName(path);
    names.set(name, [...(names.get(name) ?? []), path]);
  }
  if (names.size === 0) return paths;
  let last: string | undefined;
  return paths.map((path, index) => {
    const line = lines[index] as string;
    if (path !== undefined || !isFree(index)) return path;
    if (line === BREAK) return BREAK;
    if (last === undefined || !line.startsWith(`${last}-`)) last = findNeighborPath(line, names);
    return last;
  });
}

/** The path of a line around a hit; the tool may write it in full there and relative before the hit. */
function findNeighborPath(line: string, names: ReadonlyMap<string, readonly string[]>): string | undefined {
  const start = line.slice(0, MAX_NEIGHBOR_PATH);
  for (const { index } of start.matchAll(NEIGHBOR)) {
    const path = line.slice(0, index);
    if (names.get(getBaseName(path))?.some((known) => isSamePath(path, known))) return path;
  }
  return undefined;
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** One of the paths may be relative. */
function isSamePath(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}
