import type { CachedLine, CallerMessage } from "./line-cache.ts";

/** The change that makes a line match a caller's messages. */
export type Alignment =
  /** The caller's messages continue the line after its `known` messages. */
  | { readonly type: "follow"; readonly known: number }
  /** The caller's messages diverge from the line after `keep` messages. */
  | { readonly type: "rewind"; readonly keep: number }
  /** The caller's messages differ at `places` only. */
  | { readonly type: "replace"; readonly places: readonly number[] }
  /** The caller's messages omit those at `places` and are otherwise the same. */
  | { readonly type: "drop"; readonly places: readonly number[] };

/** Decides how to change a line so that it matches a caller's messages. */
export type Aligner<G extends CallerMessage> = (line: CachedLine, given: readonly G[]) => Alignment;

/** Aligns by keys, for a caller that may also have omitted messages anywhere before the end of the line. */
export const alignKeys: Aligner<CallerMessage> = ({ keys }, given) => {
  const caller = given.map(({ key }) => key);
  const places = findOmittedPlaces(keys, caller);
  return places ? { type: "drop", places } : alignMessages(keys, caller);
};

/** Every replaced message adds ranges to the line; with more changes than this, the line is rewound instead. */
const MAX_REPLACED = 32;

/** Compares a line with a caller's whole conversation, both given as message keys. */
export function alignMessages(line: readonly string[], caller: readonly string[]): Alignment {
  const keep = countCommonPrefix(line, caller);
  if (keep === line.length) return { type: "follow", known: keep };
  const isSameEnd = caller.length >= line.length && line.at(-1) === caller[line.length - 1];
  if (isSameEnd) {
    const places = line.flatMap((key, index) => (key === caller[index] ? [] : [index]));
    if (places.length <= MAX_REPLACED) return { type: "replace", places };
  }
  const surplus = findSurplusPlaces(line, caller, keep);
  return surplus ? { type: "drop", places: surplus } : { type: "rewind", keep };
}

/** Fewer messages may be alike by chance. */
const MIN_KEPT_END = 2;

/**
 * Places that leave the line first when a caller has put fewer messages between the beginning and the end that it kept, as
 * clients do that compact: without them, only those messages differ. Undefined if the caller did something else.
 */
function findSurplusPlaces(line: readonly string[], caller: readonly string[], keep: number) {
  const end = caller.lastIndexOf(line.at(-1) ?? "");
  const kept = new Set<number>();
  let [at, first] = [end, line.length];
  for (; at >= keep; at--) {
    const place = line.lastIndexOf(caller[at] as string, first - 1);
    if (place < keep || first === 0) break;
    kept.add(place);
    first = place;
  }
  const added = at + 1 - keep;
  if (kept.size < MIN_KEPT_END || added > Math.min(MAX_REPLACED, first - keep)) return undefined;
  const surplus = [...line.keys()].filter((place) => place >= keep + added && !kept.has(place));
  return surplus.length > 0 ? surplus : undefined;
}

/**
 * Places of the line's messages that a caller has omitted, if it changed nothing else: its messages still include the
 * end of the line, possibly followed by new ones. Sliding windows, trimmed middles and one-time reminders look like
 * this. Undefined if the caller changed messages or omitted none.
 */
export function findOmittedPlaces(
  line: readonly string[],
  caller: readonly string[],
): readonly number[] | undefined {
  const last = line.at(-1);
  const keep = countCommonPrefix(line, caller);
  const end = last === undefined ? -1 : caller.lastIndexOf(last);
  // If the common prefix contains all of it, the caller has gone back instead.
  if (end < keep) return undefined;
  const places: number[] = [];
  let place = line.length - 1;
  for (let at = end; at >= keep; at--, place--) {
    while (place >= keep && line[place] !== caller[at]) places.push(place--);
    if (place < keep) return undefined;
  }
  for (; place >= keep; place--) places.push(place);
  return places.length === 0 ? undefined : places.reverse();
}

/**
 * Number of the caller's first messages that the line ends with, for callers that keep no history and send only new
 * messages.
 */
export function countOverlap(line: readonly string[], caller: readonly string[]): number {
  for (let known = Math.min(line.length, caller.length); known > 0; known--) {
    const from = line.length - known;
    if (countCommonPrefix(line.slice(from), caller) === known) return known;
  }
  return 0;
}

/** Length of the common prefix. */
export function countCommonPrefix(one: readonly string[], other: readonly string[]): number {
  const maxLength = Math.min(one.length, other.length);
  let same = 0;
  while (same < maxLength && one[same] === other[same]) same++;
  return same;
}
