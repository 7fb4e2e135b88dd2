import { findRuns, type LineCut } from "./line-cut.ts";

const MIN_PATH_CHARACTERS = 12;
/** A line that a search has found: a path, then the number of the line. */
const HIT = /^((?:[A-Za-z]:)?[^\s:]{3,300}?):\d+:/;
/** A line around one: the same with dashes, which may also stand in the path. */
const NEIGHBOR = /-\d+-/g;
const MAX_NEIGHBOR_PATH = 310;
/** Line between two places of a file. */
const BREAK = "--";
/** A search with fewer hits was made for the lines around them. */
const MIN_HITS = 4;
/** Characters of lines around hits that a search with more hits shows; further hits stand alone. */
const MAX_NEIGHBORS = 600;
const MIN_LEFT_OUT = 600;

/** A line that a search has found, with its path; a break has none. */
interface SearchLine {
  readonly path: string;
  readonly kind: "hit" | "neighbor" | "break";
}

/** How to shorten the output of a search. */
interface SearchOptions {
  /** True to write the path once above the lines of a file. */
  readonly isGrouping: boolean;
  /** The line that stands for so many lines around hits; undefined to keep them all. */
  readonly describeLeftOut?: ((lines: number) => string) | undefined;
}

/**
 * Shortens the output of a search: the path stands once above the lines of a file instead of before each of them, and
 * lines around hits are left out once there are many. Every hit stays.
 */
export function cutSearch(
  lines: readonly string[],
  isFree: (index: number) => boolean,
  { isGrouping, describeLeftOut }: SearchOptions,
): readonly LineCut[] {
  const found = readSearch(lines, isFree);
  if (!found.some((line) => line?.kind === "hit")) return [];
  const left = describeLeftOut ? findFarNeighbors(lines, found) : new Set<number>();
  const note = left.size > 0 ? describeLeftOut?.(left.size) : undefined;
  const first = Math.min(...left);
  const cuts: LineCut[] = [];
  for (const run of findRuns(lines, (index) => found[index] !== undefined, 1)) {
    for (let from = run.from; from <= run.to; ) {
      const { path, to } = findFile(found, from, run.to);
      const isNamed = isGrouping && to > from && path.length >= MIN_PATH_CHARACTERS;
      const shown: string[] = isNamed ? [`${path}:`] : [];
      for (let index = from; index <= to; index++) {
        const line = lines[index] as string;
        const own = found[index] as SearchLine;
        if (index === first && note !== undefined) shown.push(note);
        if (!left.has(index))
          shown.push(isNamed && own.kind !== "break" ? line.slice(own.path.length + 1) : line);
      }
      if (isNamed || shown.length !== to - from + 1 || (first >= from && first <= to))
        cuts.push({ from, to, lines: shown });
      from = to + 1;
    }
  }
  return cuts;
}

/** The last line of the file that a line belongs to, with the longest way to write its path. */
function findFile(found: readonly (SearchLine | undefined)[], from: number, last: number) {
  let { path } = found[from] as SearchLine;
  let to = from;
  for (let next = from + 1; next <= last; next++) {
    const other = found[next] as SearchLine;
    if (other.kind === "break") continue;
    if (!isSamePath(path, other.path)) break;
    if (other.path.length > path.length) path = other.path;
    to = next;
  }
  return { path, to };
}

/** Lines around hits behind those that a search shows, and the breaks between them. */
function findFarNeighbors(
  lines: readonly string[],
  found: readonly (SearchLine | undefined)[],
): ReadonlySet<number> {
  const left = new Set<number>();
  if (found.filter((line) => line?.kind === "hit").length < MIN_HITS) return left;
  let shown = 0;
  let saved = 0;
  for (const [index, line] of found.entries()) {
    if (!line || line.kind === "hit") continue;
    const { length } = lines[index] as string;
    shown += length;
    if (shown <= MAX_NEIGHBORS) continue;
    left.add(index);
    saved += length;
  }
  return saved >= MIN_LEFT_OUT ? left : new Set();
}

function readSearch(
  lines: readonly string[],
  isFree: (index: number) => boolean,
): readonly (SearchLine | undefined)[] {
  const hits = lines.map((line, index) => (isFree(index) ? HIT.exec(line)?.[1] : undefined));
  const names = new Map<string, string[]>();
  for (const path of new Set(hits)) {
    if (path === undefined) continue;
    const name = getBaseName(path);
    names.set(name, [...(names.get(name) ?? []), path]);
  }
  if (names.size === 0) return [];
  let last: string | undefined;
  return lines.map((line, index): SearchLine | undefined => {
    const hit = hits[index];
    if (!isFree(index)) return undefined;
    if (hit !== undefined) return { path: hit, kind: "hit" };
    if (line === BREAK) return { path: "", kind: "break" };
    if (last === undefined || !line.startsWith(`${last}-`)) last = findNeighborPath(line, names);
    return last === undefined ? undefined : { path: last, kind: "neighbor" };
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
