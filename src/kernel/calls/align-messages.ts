import type { SeqRange } from "../faces/log.ts";
import type { Session } from "../index.ts";
import type { CachedLine, CallerMessage, LineMessage } from "./line-cache.ts";

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

/** Maximum number of dropped messages to remember; older ones are written again if a caller sends them. */
const MAX_DROPPED = 20_000;

/** The messages of a line, with their keys and roles. */
export type LineContent = Pick<CachedLine, "messages" | "keys" | "roles">;

/** A message of the session's own log, whose seq is known. */
type OwnLineMessage = LineMessage & { readonly seq: number };

/** Remembers messages that callers have dropped, for a caller that sends them again. */
export class DroppedMessages {
  #messages: readonly OwnLineMessage[] = [];

  /** Records messages that were just removed from the line. */
  add(messages: readonly LineMessage[]): void {
    const known = new Set(messages.map(({ id }) => id));
    const all = [...this.#messages.filter(({ id }) => !known.has(id)), ...messages.filter(isOwnMessage)];
    this.#messages = all.sort((a, b) => a.seq - b.seq).slice(-MAX_DROPPED);
  }

  /**
   * The line with those dropped messages that a caller sends again, each at its original position; undefined if there
   * are none.
   */
  findRestoredLine(
    line: Pick<CachedLine, "messages" | "keys">,
    caller: readonly string[],
  ): RestoredLine | undefined {
    if (this.#messages.length === 0 || countCommonPrefix(line.keys, caller) === line.keys.length)
      return undefined;
    if (findOmittedPlaces(line.keys, caller)) return undefined;
    const all = mergeInLogOrder(line.messages, this.#messages);
    const gone = all && findGonePlaces(listKeys(all), caller);
    if (!all || !gone) return undefined;
    const onLine = new Set(line.messages.map(({ id }) => id));
    const messages = all.filter(({ id }, place) => onLine.has(id) || !gone.has(place));
    const restored = messages.filter(({ id }) => !onLine.has(id)).filter(isOwnMessage);
    return restored.length === 0 ? undefined : { messages, restored };
  }

  /** Adds dropped messages back to the line. */
  async restore(session: Session, { restored }: RestoredLine): Promise<void> {
    const [active] = await session.lines(1);
    if (!active) return;
    const seqs = restored.map(({ seq }) => seq);
    await session.setLine(
      addEntriesToRanges(active.ranges, session.id, seqs),
      "the caller says again what it left out",
    );
    const back = new Set(seqs);
    this.#messages = this.#messages.filter(({ seq }) => !back.has(seq));
  }
}

/** A line and the dropped messages to add back to it. */
interface RestoredLine {
  readonly messages: readonly LineMessage[];
  readonly restored: readonly OwnLineMessage[];
}

function isOwnMessage(message: LineMessage): message is OwnLineMessage {
  return message.seq !== undefined;
}

function listKeys(messages: readonly LineMessage[]): readonly string[] {
  return messages.map(({ key }) => key);
}

/** Places that a caller omits; empty if it sends the whole line, undefined if it sends something else. */
function findGonePlaces(line: readonly string[], caller: readonly string[]): ReadonlySet<number> | undefined {
  if (countCommonPrefix(line, caller) === line.length) return new Set();
  const places = findOmittedPlaces(line, caller);
  return places && new Set(places);
}

/**
 * Merges the messages of a line with others of its log, in log order; undefined if the line itself is in another order.
 */
function mergeInLogOrder(
  line: readonly LineMessage[],
  others: readonly OwnLineMessage[],
): readonly LineMessage[] | undefined {
  const start = line.findIndex(isOwnMessage);
  const own = start < 0 ? [] : line.slice(start);
  if (!own.every((message, at) => isOwnMessage(message) && message.seq > (own[at - 1]?.seq ?? 0)))
    return undefined;
  const before = start < 0 ? line : line.slice(0, start);
  return [...before, ...[...own.filter(isOwnMessage), ...others].sort((a, b) => a.seq - b.seq)];
}

/** Adds entries of one session to ranges, in log order. */
function addEntriesToRanges(
  ranges: readonly SeqRange[],
  session: string,
  seqs: readonly number[],
): readonly SeqRange[] {
  const others = ranges.filter((range) => range.session !== session);
  const own = [
    ...ranges.filter((range) => range.session === session),
    ...seqs.map((seq) => ({ session, from: seq, to: seq })),
  ].sort((a, b) => a.from - b.from);
  const joined: SeqRange[] = [];
  for (const range of own) {
    const last = joined.at(-1);
    if (last && last.to + 1 === range.from) joined[joined.length - 1] = { ...last, to: range.to };
    else joined.push(range);
  }
  return [...others, ...joined];
}
