import { AsyncLocalStorage } from "node:async_hooks";
import { SerialQueue } from "../../model/base/serial-queue.ts";
import { findRangeIndex } from "../../model/line.ts";
import { describeRequestEnd, type RequestEnd, toStoredEnd } from "../../model/request-end.ts";
import type { LineDeparture, LineStep, Place, SeqRange } from "../faces/log.ts";
import {
  type Entry,
  type EntryId,
  isLonghaulError,
  LonghaulError,
  type MessageBody,
  type MessageInput,
  parseEntryId,
  type Session,
  textOfMessage,
} from "../index.ts";
import {
  type Aligner,
  alignKeys,
  countCommonPrefix,
  countOverlap,
  findOmittedPlaces,
} from "./align-messages.ts";
import { FormerLines, LEFT_OUT, type LineContent } from "./former-lines.ts";
import {
  type CachedLine,
  type CallerCopy,
  type CallerMessage,
  continuesLine,
  type KeyFunction,
  LineCache,
  type LineMessage,
  type PlacedMessages,
  pairMessages,
  pairMessagesAfter,
} from "./line-cache.ts";

export type { CallerMessage, PlacedMessage, PlacedMessages } from "./line-cache.ts";

/** Maximum number of the session's lines searched for an entry. */
const MAX_SEARCHED_LINES = 1_000;

/** The conversation whose turn is running in the current async context. */
const runningTurns = new AsyncLocalStorage<object>();

/**
 * Writes callers' messages to a session's log, each message once. Nothing is ever lost: if a caller's messages differ
 * from the log, the line changes and the log keeps both.
 */
export class Conversation<G extends CallerMessage> {
  readonly #session: Session;
  readonly #lineCache: LineCache;
  readonly #former: FormerLines;
  #isCompacted = false;
  /** The note about the last request, null if its reply was whole; undefined before it was read. */
  #endNote: string | null | undefined;
  readonly #queue = new SerialQueue();

  constructor(session: Session, keyOf: KeyFunction) {
    this.#session = session;
    this.#lineCache = new LineCache(session, keyOf);
    this.#former = new FormerLines(session, this.#lineCache);
  }

  /** True inside a turn. A summary that the window requests must not wait for the turn it runs in. */
  get isInTurn(): boolean {
    return runningTurns.getStore() === this;
  }

  /** Runs work one piece at a time, so that a fit sees exactly the messages just written. */
  runInTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(() => runningTurns.run(this, work));
  }

  /** The active line. */
  readLine(): Promise<CachedLine> {
    return this.#lineCache.refresh();
  }

  /** The active line after the writes of running turns, with those erased messages that a caller still has. */
  readLineInTurn(caller?: CallerCopy): Promise<CachedLine> {
    return this.#queue.run(() => this.#lineCache.refresh(caller));
  }

  /** `readLineInTurn`, including previously dropped messages that a caller with these keys sends again. */
  async readRestoredLineInTurn(caller: CallerCopy): Promise<LineContent> {
    const line = await this.readLineInTurn(caller);
    const restored = (await this.#former.findRestoredLine(line, caller.keys))?.messages;
    if (!restored) return line;
    return {
      messages: restored,
      keys: restored.map(({ key }) => key),
      roles: restored.map(({ role }) => role),
    };
  }

  /** Makes the line match the messages of a caller that keeps the whole conversation. */
  takeAllMessages(given: readonly G[], align: Aligner<G> = alignKeys): Promise<PlacedMessages<G>> {
    // Somebody else may write in between: perhaps the same messages.
    return retryOnConflict(async () => {
      const seen = await this.#lineCache.refresh();
      const isContinued = !seen.lacksErased && continuesLine(seen, given);
      const closest = isContinued ? seen : await this.#findClosestLine(given);
      const line = await this.#alignLine(closest, given, align);
      const fresh = given.slice(line.messages.length);
      const { head } = this.#lineCache;
      // `line` grows in place if it is the cached one; a line that was chosen again has to be read again.
      const { isWhole, written } = await appendMessages(this.#session, this.#lineCache, fresh, head);
      this.#isCompacted = false;
      return pairMessages(isWhole ? line : await this.#lineCache.refresh(), given, written);
    });
  }

  /** The line, changed so that the messages of a caller continue it. */
  async #alignLine(line: CachedLine, given: readonly G[], align: Aligner<G>): Promise<CachedLine> {
    const alignment = align(line, given);
    if (alignment.type === "follow") return line;
    const places =
      alignment.type === "rewind"
        ? await this.#findSummarizedPlaces(line, given, alignment.keep)
        : alignment.type === "drop" && alignment.places;
    if (places) {
      await this.#drop(line, places);
      return this.#alignLine(await this.#findClosestLine(given), given, align);
    }
    if (alignment.type === "rewind") {
      const departure = this.#isCompacted
        ? "trimmed"
        : await findDeparture(this.#session, line, given, alignment.keep);
      await this.#rewind(line, alignment.keep - 1, departure);
    } else
      for (const place of alignment.places) {
        const { id } = line.messages[place] as LineMessage;
        const departure = this.#isCompacted ? "trimmed" : "branched";
        await this.#session.replace(id, (given[place] as G).input(), { departure });
      }
    return this.#lineCache.refresh();
  }

  /**
   * Places of the messages that a caller's own summary replaces, if the caller has kept others before the summary, as Codex
   * keeps the messages of people. Undefined if it kept none, or does not continue with a summary.
   */
  async #findSummarizedPlaces(line: CachedLine, given: readonly G[], keep: number) {
    const kept = new Set<number>();
    let place = keep - 1;
    for (const { key } of given.slice(keep)) {
      place = line.keys.indexOf(key, place + 1);
      if (place < 0) break;
      kept.add(place);
    }
    if (kept.size === 0) return undefined;
    const inputs = given.slice(keep + kept.size).map((message) => message.input());
    if (!this.#isCompacted && !(await quotesLastReply(this.#session, line, keep, inputs))) return undefined;
    return [...line.keys.keys()].filter((other) => other >= keep && !kept.has(other));
  }

  /** Appends those of the caller's messages that the line does not end with yet. */
  async takeNewMessages(given: readonly G[]): Promise<PlacedMessages<G>> {
    if (given.length === 0) return { byId: new Map(), last: undefined };
    const newest = await this.#lineCache.readNewest(given.length);
    const known = countOverlap(
      newest.map(({ key }) => key),
      given.map(({ key }) => key),
    );
    await appendMessages(this.#session, this.#lineCache, given.slice(known));
    const messages = await this.#lineCache.readNewest(given.length);
    const own = given.slice(-messages.length);
    const placeOf = (id: EntryId) => messages.findIndex((message) => message.id === id);
    return pairMessages({ messages, placeOf }, own);
  }

  /**
   * Makes the line continue with the caller's messages after the entry `last`; messages that followed it before stay in
   * the log.
   */
  async takeMessagesAfter(last: EntryId, given: readonly G[]): Promise<PlacedMessages<G>> {
    if (!(await this.ensureOnLine(last))) return this.takeNewMessages(given);
    const keys = given.map(({ key }) => key);
    return retryOnConflict(async () => {
      const line = await this.#lineCache.refresh();
      const place = line.placeOf(last);
      if (place === undefined)
        return (await this.#tryEndLineAt(last)) ? undefined : this.takeNewMessages(given);
      const from = place + 1;
      const known = countCommonPrefix(line.keys.slice(from), keys);
      if (from + known < line.messages.length)
        await this.#tryEndLineAt(line.messages[from + known - 1]?.id ?? last);
      await appendMessages(this.#session, this.#lineCache, given.slice(known));
      return pairMessagesAfter(await this.#lineCache.refresh(), last, given);
    });
  }

  /** True if an entry is on the active line. If it is only on another line, makes the active line end with it. */
  async ensureOnLine(id: EntryId): Promise<boolean> {
    const line = await this.#lineCache.refresh();
    return line.placeOf(id) !== undefined || this.#tryEndLineAt(id);
  }

  /**
   * Appends entries after `last`, even if concurrent calls, here or in other processes, have changed the line; only the
   * first one may be a message. `append` may be called twice: first with the expected head of the log.
   */
  async appendAfter<E extends Entry>(
    last: EntryId | undefined,
    append: (expectedHead?: number) => Promise<readonly E[]>,
  ): Promise<readonly E[]> {
    let entries: readonly E[] | undefined;
    if (last !== undefined && this.#lineCache.last === last) {
      try {
        // The commit itself tells whether the line that was last seen is still the active one.
        entries = await append(this.#lineCache.head);
      } catch (error) {
        if (!isLonghaulError(error, "POSITION_CONFLICT")) throw error;
      }
    }
    if (!entries) {
      await this.endLineAt(last);
      entries = await append();
    }
    if (!entries[0] || this.#lineCache.addAppended(entries) || last === undefined) return entries;
    await this.#placeAfter(last, entries[0]);
    return entries;
  }

  /** Makes the line continue with an entry after `last`, because another writer came in between. */
  async #placeAfter(last: EntryId, { id, session, seq }: Entry): Promise<void> {
    await retryOnConflict(async () => {
      const line = await this.#lineCache.refresh();
      const place = line.placeOf(id);
      if (place !== undefined && line.messages[place - 1]?.id === last) return true;
      if (!(await this.ensureOnLine(last))) return true;
      const { ranges } = await this.#session.rewind(last, {
        departure: "branched",
        keepsEdits: true,
      });
      await this.#session.setLine(
        [...ranges, { session, from: seq, to: seq }],
        "a reply to where it belongs",
      );
      return undefined;
    });
  }

  /** Records that the caller continues with its own summary, so that the messages it omits were not taken back. */
  recordCompaction(): void {
    this.#isCompacted = true;
  }

  /** Records entries that were just appended to the line, so that they need not be read again. */
  recordAppended(entries: readonly Entry[]): void {
    this.#lineCache.addAppended(entries);
  }

  /** Appends a note for people, in its own turn. */
  note(text: string, options?: Parameters<Session["note"]>[1]): Promise<void> {
    return this.runInTurn(async () => this.recordAppended([await this.#session.note(text, options)]));
  }

  /** Stores why a request ended, once if the same end repeats; undefined for a whole reply. */
  async noteEnd(end: RequestEnd | undefined): Promise<void> {
    const requestEnd = end && toStoredEnd(end);
    const text = requestEnd ? describeRequestEnd(requestEnd) : null;
    if (text !== null && this.#endNote === undefined) this.#endNote = await this.#readEndNote();
    if (text === this.#endNote) return;
    this.#endNote = text;
    if (requestEnd) await this.note(describeRequestEnd(requestEnd), { requestEnd });
  }

  /** The note about the end of the last request, if no reply has followed it. */
  async #readEndNote(): Promise<string | null> {
    for await (const entry of this.#session.entries({ direction: "older", kinds: ["notice", "message"] })) {
      if (entry.kind === "message" && entry.message.role === "assistant") return null;
      if (entry.kind === "notice" && entry.requestEnd) return entry.text;
    }
    return null;
  }

  /** Makes the line end with `last`, even if concurrent calls have changed it. */
  async endLineAt(last: EntryId | undefined): Promise<void> {
    if (last !== undefined) await retryOnConflict(() => this.#tryEndLineAt(last));
  }

  /** Makes the line end with an entry; false if no line contains it. */
  async #tryEndLineAt(id: EntryId): Promise<boolean> {
    const line = await this.#lineCache.refresh();
    if (line.messages.at(-1)?.id === id) return true;
    const place = line.placeOf(id);
    if (place !== undefined) {
      await this.#rewind(line, place, "branched");
      return true;
    }
    const ranges = findRangesThrough(await this.#session.lines(MAX_SEARCHED_LINES), parseEntryId(id));
    if (!ranges) return false;
    await this.#session.setLine(ranges, "a caller goes on from here");
    return true;
  }

  /** The active line, or an abandoned one that shares more with the caller's messages. */
  async #findClosestLine(given: readonly G[]): Promise<CachedLine> {
    let line = await this.#lineCache.refresh();
    if (line.lacksErased) {
      const roles = given.map((message) => message.input().role);
      line = await this.#lineCache.refresh({ keys: given.map(({ key }) => key), roles });
    }
    if (given.length === 0 || continuesLine(line, given)) return line;
    const keys = given.map(({ key }) => key);
    const own = countCommonPrefix(line.keys, keys);
    if (own === line.messages.length || findOmittedPlaces(line.keys, keys)) return line;
    const restored = await this.#former.findRestoredLine(line, keys);
    if (restored) {
      await this.#former.restore(restored);
      return this.#lineCache.refresh();
    }
    const closest = await this.#former.findCloser(line, keys, own);
    if (closest === undefined) return line;
    await this.#session.choose(closest, { departure: "branched" });
    return this.#lineCache.refresh();
  }

  /** Makes the line end with its message at `place`; a place before the first message empties it. */
  async #rewind(line: CachedLine, place: number, departure: LineDeparture): Promise<void> {
    const last = line.messages[place];
    if (last) {
      const chosen = await this.#session.rewind(last.id, { departure, keepsEdits: true });
      this.#lineCache.recordRewind(line, place, chosen);
    } else
      await this.#session.setLine([], "the caller begins again", {
        departure: departure === "trimmed" ? departure : "branched",
      });
  }

  /** Removes messages from the line in one step. If the line would have too many ranges, restarts it empty. */
  async #drop(line: CachedLine, places: readonly number[]): Promise<void> {
    const ids = places.map((place) => (line.messages[place] as LineMessage).id);
    const count = ids.length === 1 ? "a message" : `${ids.length} messages`;
    try {
      const reason = `${LEFT_OUT} ${count}`;
      const chosen = await this.#session.remove(ids, { reason, departure: "trimmed" });
      this.#lineCache.recordDrop(line, places, chosen);
    } catch (error) {
      if (!isLonghaulError(error, "LINE_LIMIT")) throw error;
      await this.#session.setLine([], "the caller begins again", { departure: "trimmed" });
    }
  }
}

/** The result of an append. */
interface AppendedMessages {
  /** True if the known line has grown by exactly these messages. */
  readonly isWhole: boolean;
  readonly written: readonly Entry<MessageBody>[];
}

/** Messages per append. */
const BATCH = 1_000;

/** Appends a caller's messages. Throws POSITION_CONFLICT unless the log ends at `expectedHead`. */
async function appendMessages(
  session: Session,
  lineCache: LineCache,
  given: readonly CallerMessage[],
  expectedHead?: number,
): Promise<AppendedMessages> {
  const written: Entry<MessageBody>[] = [];
  let isWhole = true;
  let head = expectedHead;
  for (let from = 0; from < given.length; from += BATCH) {
    const inputs: MessageInput[] = [];
    for (const one of given.slice(from, from + BATCH)) {
      if (one.before) for (const input of await one.before()) inputs.push(input);
      inputs.push(one.input());
    }
    const options = head === undefined ? {} : { expectedHead: head };
    const entries = await session.appendAll(inputs, options);
    if (head !== undefined) head += entries.length;
    isWhole = lineCache.addAppended(entries) && isWhole;
    for (const entry of entries) written.push(entry);
  }
  return { isWhole, written };
}

/** The ranges of the newest line that contains an entry, up to that entry; undefined if no line contains it. */
function findRangesThrough(
  lines: readonly Pick<LineStep, "ranges">[],
  { session, seq }: Place,
): readonly SeqRange[] | undefined {
  for (const { ranges } of lines) {
    const index = findRangeIndex(ranges, session, seq);
    const last = ranges[index];
    if (last) return [...ranges.slice(0, index), { ...last, to: seq }];
  }
  return undefined;
}

/** Concurrent writers to the same line normally finish long before this. */
const MAX_TRIES = 50;

/**
 * Retries `work` while concurrent writers change the line: until it returns a value and throws neither NOT_ON_LINE nor
 * POSITION_CONFLICT.
 * Throws POSITION_CONFLICT after 50 tries.
 */
async function retryOnConflict<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await work();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isLonghaulError(error, "NOT_ON_LINE") && !isLonghaulError(error, "POSITION_CONFLICT")) throw error;
    }
    if (tries >= MAX_TRIES)
      throw new LonghaulError(
        "POSITION_CONFLICT",
        `Others have changed the line of this session ${tries} times in a row; try again when they are done.`,
      );
  }
}

/** Shorter replies are not summaries of a conversation. */
const MIN_SUMMARY = 100;
/** Longer words may be a summary that was made elsewhere. */
const MAX_OWN_WORDS = 2_000;

/**
 * Why messages after the first `keep` leave the line. A person who goes back continues with a few new words; a caller
 * that rewrites its history also repeats replies or later messages, and one that compacted it continues with a summary.
 */
async function findDeparture(
  session: Session,
  line: CachedLine,
  given: readonly CallerMessage[],
  keep: number,
): Promise<LineDeparture> {
  const later = new Set(line.keys.slice(keep));
  const fresh = given.slice(keep);
  if (fresh.some(({ key }) => later.has(key))) return "branched";
  const inputs = fresh.map((message) => message.input());
  if (inputs.some(({ role }) => role === "assistant" || role === "tool")) return "branched";
  if (await quotesLastReply(session, line, keep, inputs)) return "trimmed";
  const words = collapseSpaces(inputs.map(readText).join("\n"));
  return words.length > MAX_OWN_WORDS ? "branched" : "taken-back";
}

/** True if messages quote the last reply of a line after its first `keep` messages, as those of a caller that has it summarize. */
async function quotesLastReply(
  session: Session,
  line: CachedLine,
  keep: number,
  inputs: readonly MessageInput[],
): Promise<boolean> {
  const words = collapseSpaces(inputs.map(readText).join("\n"));
  const reply = line.messages.slice(keep).findLast(({ role }) => role === "assistant");
  if (!reply || words.length < MIN_SUMMARY) return false;
  const entry = await session.entry(reply.id);
  const text = entry?.kind === "message" ? collapseSpaces(textOfMessage(entry.message)) : "";
  return text.length >= MIN_SUMMARY && words.includes(text);
}

function readText({ text, parts = [] }: MessageInput): string {
  return [text ?? "", ...parts.map((part) => (part.type === "text" ? part.text : ""))].join("\n");
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
