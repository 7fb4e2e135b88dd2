import { listSeqs, type SeqRange } from "../../model/line.ts";
import { joinRanges, type NumberRange, subtractRanges } from "../../model/number-ranges.ts";
import type { LineStep } from "../faces/log.ts";
import { parseEntryId, type Session } from "../index.ts";
import { countCommonPrefix, findOmittedPlaces } from "./align-messages.ts";
import type { CachedLine, LineCache, LineMessage } from "./line-cache.ts";

/** Begins the reason of a change by which a caller leaves messages out. */
export const LEFT_OUT = "the caller left out";
/** Newest lines that are searched for messages that callers have left out. */
const MAX_STEPS = 1_000;
/** Newest former lines to compare, for callers that return to an earlier draft or make several calls at once. */
const MAX_LINES = 8;
/** Maximum number of messages that are read for both; older ones are written again if a caller sends them. */
const MAX_READ = 20_000;

/** The messages of a line, with their keys and roles. */
export type LineContent = Pick<CachedLine, "messages" | "keys" | "roles">;

/** A message of the session's own log, whose seq is known. */
type OwnLineMessage = LineMessage & { readonly seq: number };

interface FormerLine {
  readonly seq: number;
  readonly keys: readonly string[];
}

interface ReadLines {
  /** Seq of the entry that chose the line which is active now. */
  readonly active: number;
  /** The newest first. */
  readonly lines: readonly FormerLine[];
  /** Messages that callers have left out. */
  readonly dropped: readonly OwnLineMessage[];
}

/** The lines that a conversation has left, and the messages that callers have left out, as the log has them. */
export class FormerLines {
  readonly #session: Session;
  readonly #lineCache: LineCache;
  #known: ReadLines | undefined;

  constructor(session: Session, lineCache: LineCache) {
    this.#session = session;
    this.#lineCache = lineCache;
  }

  /** The newest of the last lines that begins with more than `known` of the keys. */
  async findCloser(line: CachedLine, keys: readonly string[], known: number): Promise<number | undefined> {
    const { lines } = await this.#read(line);
    return lines.find((former) => countCommonPrefix(former.keys, keys) > known)?.seq;
  }

  /**
   * The line with those dropped messages that a caller sends again, each at its original position; undefined if there
   * are none.
   */
  async findRestoredLine(line: CachedLine, caller: readonly string[]): Promise<RestoredLine | undefined> {
    if (line.lineSeq === 0 || countCommonPrefix(line.keys, caller) === line.keys.length) return undefined;
    if (findOmittedPlaces(line.keys, caller)) return undefined;
    const { dropped } = await this.#read(line);
    const all = dropped.length === 0 ? undefined : mergeInLogOrder(line.messages, dropped);
    const gone = all && findGonePlaces(listKeys(all), caller);
    if (!all || !gone) return undefined;
    const onLine = new Set(line.messages.map(({ id }) => id));
    const messages = all.filter(({ id }, place) => onLine.has(id) || !gone.has(place));
    const restored = messages.filter(({ id }) => !onLine.has(id)).filter(isOwnMessage);
    return restored.length === 0 ? undefined : { messages, restored };
  }

  /** Adds dropped messages back to the line. */
  async restore({ restored }: RestoredLine): Promise<void> {
    const [active] = await this.#session.lines(1);
    if (!active) return;
    const seqs = restored.map(({ seq }) => seq);
    await this.#session.setLine(
      addEntriesToRanges(active.ranges, this.#session.id, seqs),
      "the caller says again what it left out",
    );
  }

  async #read(line: CachedLine): Promise<ReadLines> {
    if (line.lineSeq === 0) return { active: 0, lines: [], dropped: [] };
    if (this.#known?.active !== line.lineSeq) this.#known = await this.#load(line);
    return this.#known;
  }

  async #load(line: CachedLine): Promise<ReadLines> {
    const { id } = this.#session;
    const steps = await this.#session.lines(MAX_STEPS);
    const former = steps.slice(1, 1 + MAX_LINES);
    const left = listLeftOut(steps, id);
    const onLine = listSeqs(steps[0]?.ranges ?? [], id);
    const wanted = [...former.flatMap(({ ranges }) => listSeqs(ranges, id)), ...left];
    const read = await this.#lineCache.readOwn(subtractAll(wanted, onLine), MAX_READ);
    const dropped = read.filter((one) => isOwnMessage(one) && isInSome(left, one.seq)).filter(isOwnMessage);
    const lines = former.map(({ seq, ranges }) => ({
      seq,
      keys: listKeysWithin([...line.messages, ...read], ranges),
    }));
    return { active: line.lineSeq, lines, dropped: dropped.toSorted((one, other) => one.seq - other.seq) };
  }
}

/** Seqs that callers have left out, by the changes from each line to the next one. */
function listLeftOut(steps: readonly LineStep[], session: string): readonly NumberRange[] {
  return steps.flatMap(({ reason, ranges }, index) => {
    const before = steps[index + 1];
    if (!before || !reason.startsWith(LEFT_OUT)) return [];
    return subtractRanges(listSeqs(before.ranges, session), listSeqs(ranges, session));
  });
}

function subtractAll(ranges: readonly NumberRange[], others: readonly NumberRange[]): readonly NumberRange[] {
  return subtractRanges(joinRanges(ranges), others);
}

function isInSome(ranges: readonly NumberRange[], seq: number): boolean {
  return ranges.some(([from, to]) => from <= seq && seq <= to);
}

/** Keys of the messages within some ranges, in the order of the ranges. */
function listKeysWithin(messages: readonly LineMessage[], ranges: readonly SeqRange[]): readonly string[] {
  const placed = messages.map(({ id, key }) => ({ ...parseEntryId(id), key }));
  return ranges.flatMap(({ session, from, to }) =>
    placed
      .filter((one) => one.session === session && from <= one.seq && one.seq <= to)
      .toSorted((one, other) => one.seq - other.seq)
      .map(({ key }) => key),
  );
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
