/** What to do so that a line says what a caller says. */
export type Alignment =
  /** What the caller says goes on where the line ends, after `known` messages. */
  | { readonly type: "follow"; readonly known: number }
  /** The caller has gone another way after `keep` messages. */
  | { readonly type: "rewind"; readonly keep: number }
  /** The caller says something else at `places`, and the rest as it was. */
  | { readonly type: "replace"; readonly places: readonly number[] }
  /** The caller does not say any more what stands at `places`, and the rest as it was. */
  | { readonly type: "drop"; readonly places: readonly number[] };

/** Each replaced message makes the line longer to describe; a caller who changes more begins anew there. */
const MOST_REPLACED = 32;

/** Compares a line with the whole conversation as a caller has it, both as keys of what was said. */
export function alignWhole(line: readonly string[], caller: readonly string[]): Alignment {
  const keep = samePrefix(line, caller);
  if (keep === line.length) return { type: "follow", known: keep };
  const isSameEnd = caller.length >= line.length && line.at(-1) === caller[line.length - 1];
  if (isSameEnd) {
    const places = line.flatMap((key, index) => (key === caller[index] ? [] : [index]));
    if (places.length <= MOST_REPLACED) return { type: "replace", places };
  }
  return { type: "rewind", keep };
}

/** The same for a caller who may also have left messages out, anywhere before the line's end. */
export function alignTrimmed(line: readonly string[], caller: readonly string[]): Alignment {
  const places = leftOut(line, caller);
  return places ? { type: "drop", places } : alignWhole(line, caller);
}

/**
 * Places of the line's messages that a caller has left out, if that is all the caller has changed: it still ends where the
 * line ends, possibly with new messages after it. Sliding windows, trimmed middles and reminders that were said once look so.
 * Undefined if the caller says something else instead, and for a caller who left nothing out.
 */
export function leftOut(line: readonly string[], caller: readonly string[]): readonly number[] | undefined {
  const last = line.at(-1);
  const keep = samePrefix(line, caller);
  const end = last === undefined ? -1 : caller.lastIndexOf(last);
  // Where the common beginning says all of it, the caller has gone back instead.
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

/** How many of a caller's first messages the line ends with: a caller who keeps no history says only what is new. */
export function overlap(line: readonly string[], caller: readonly string[]): number {
  for (let known = Math.min(line.length, caller.length); known > 0; known--) {
    const from = line.length - known;
    if (samePrefix(line.slice(from), caller) === known) return known;
  }
  return 0;
}

/** Length of the common beginning. */
export function samePrefix(one: readonly string[], other: readonly string[]): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}
