import type { SeqRange } from "../faces/log.ts";
import type { Session } from "../index.ts";
import { countCommonPrefix, findOmittedPlaces } from "./align-messages.ts";
import type { CachedLine, LineMessage } from "./line-cache.ts";

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
