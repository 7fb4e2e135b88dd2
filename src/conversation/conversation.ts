import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Entry,
  type EntryId,
  isLonghaulError,
  type MessageInput,
  parseEntryId,
  type Session,
} from "../index.ts";
import { type Alignment, alignTrimmed, leftOut, overlap, samePrefix } from "./align.ts";
import { DroppedMessages } from "./dropped-messages.ts";
import { type KeyOf, KnownLine, type LineMessage, type LineSeen } from "./known-line.ts";
import { patiently } from "./patiently.ts";
import { type Given, type Placed, placed, placedFrom } from "./placed.ts";
import { throughEntry } from "./through-entry.ts";

export type { Given, Placed, PlacedMessage } from "./placed.ts";

/** Number of abandoned lines to remember, for callers that return to an earlier draft or make several calls at once. */
const MOST_LEFT_LINES = 8;
/** Maximum number of the session's lines searched for an entry. */
const MOST_LINES = 1_000;
const BATCH = 1_000;

/** Decides how to change a line so that it matches a caller's messages. */
export type Align<G extends Given> = (line: LineSeen, given: readonly G[]) => Alignment;

const alignKeys: Align<Given> = ({ keys }, given) =>
  alignTrimmed(
    keys,
    given.map(({ key }) => key),
  );

/** The conversation whose turn is running in the current async context. */
const turns = new AsyncLocalStorage<object>();

/**
 * Writes callers' messages to a session's log, each message once. Nothing is ever lost: if a caller's messages differ
 * from the log, the line changes and the log keeps both.
 */
export class Conversation<G extends Given> {
  readonly #session: Session;
  readonly #known: KnownLine;
  readonly #dropped = new DroppedMessages();
  #left: LineSeen[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(session: Session, keyOf: KeyOf) {
    this.#session = session;
    this.#known = new KnownLine(session, keyOf);
  }

  /** True inside a turn. A summary that the window requests must not wait for the turn it runs in. */
  get isInTurn(): boolean {
    return turns.getStore() === this;
  }

  /** Runs work one piece at a time, so that a fit sees exactly the messages just written. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = () => turns.run(this, work);
    const mine = this.#turn.then(run, run);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** The active line, or an abandoned one that shares more with the caller's messages. */
  line(given: readonly G[] = []): Promise<LineSeen> {
    return given.length === 0 ? this.#known.look() : this.#closestLine(given.map(({ key }) => key));
  }

  /** The active line, including previously dropped messages that a caller with these keys sends again. */
  async lineFor(caller: readonly string[]): Promise<Pick<LineSeen, "messages" | "keys" | "roles">> {
    const line = await this.#known.look();
    const messages = this.#dropped.restoredLine(line, caller)?.messages;
    if (!messages) return line;
    return { messages, keys: messages.map(({ key }) => key), roles: messages.map(({ role }) => role) };
  }

  /** Makes the line match the messages of a caller that keeps the whole conversation. */
  async takeWhole(given: readonly G[], align: Align<G> = alignKeys): Promise<Placed<G>> {
    let line = await this.line(given);
    const alignment = align(line, given);
    if (alignment.type === "drop") {
      this.#leave(line);
      await this.#drop(line, alignment.places);
      return this.takeWhole(given, align);
    }
    if (alignment.type === "rewind") {
      this.#leave(line);
      await this.#rewind(line, alignment.keep - 1);
      line = await this.#known.look();
    } else if (alignment.type === "replace") {
      this.#leave(line);
      for (const place of alignment.places) {
        const { id } = line.messages[place] as LineMessage;
        await this.#session.replace(id, (given[place] as G).input());
      }
      line = await this.#known.look();
    }
    const fresh = given.slice(line.messages.length);
    // `line` grows in place unless somebody else has written in between; then it has to be read again.
    const isWhole = await this.#append(fresh);
    return placed(isWhole ? line : await this.#known.look(), given);
  }

  /** Appends those of the caller's messages that the line does not end with yet. */
  async takeNew(given: readonly G[]): Promise<Placed<G>> {
    if (given.length === 0) return { byId: new Map(), last: undefined };
    const newest = await this.#known.newest(given.length);
    const known = overlap(
      newest.map(({ key }) => key),
      given.map(({ key }) => key),
    );
    await this.#append(given.slice(known));
    const messages = await this.#known.newest(given.length);
    const own = given.slice(-messages.length);
    const placeOf = (id: EntryId) => messages.findIndex((message) => message.id === id);
    return placed({ messages, placeOf }, own);
  }

  /**
   * Makes the line continue with the caller's messages after the entry `last`; messages that followed it before stay in
   * the log.
   */
  async takeBehind(last: EntryId, given: readonly G[]): Promise<Placed<G>> {
    if (!(await this.holds(last))) return this.takeNew(given);
    const keys = given.map(({ key }) => key);
    return patiently(async () => {
      const line = await this.#known.look();
      const place = line.placeOf(last);
      if (place === undefined) return (await this.#endWith(last)) ? undefined : this.takeNew(given);
      const from = place + 1;
      const known = samePrefix(line.keys.slice(from), keys);
      if (from + known < line.messages.length)
        await this.#endWith(line.messages[from + known - 1]?.id ?? last);
      await this.#append(given.slice(known));
      return placedFrom(await this.#known.look(), last, given);
    });
  }

  /** True if an entry is on the active line. If it is only on another line, makes the active line end with it. */
  async holds(id: EntryId): Promise<boolean> {
    const line = await this.#known.look();
    return line.placeOf(id) !== undefined || this.#endWith(id);
  }

  /** Appends an entry after `last`, even if concurrent calls, here or in other processes, have changed the line. */
  async appendBehind<E extends Entry>(
    last: EntryId | undefined,
    append: () => Promise<E | undefined>,
  ): Promise<E | undefined> {
    await this.standBehind(last);
    const entry = await append();
    if (!entry || this.#known.appended([entry]) || last === undefined) return entry;
    // If another writer came in between, set the line explicitly.
    const { session, seq } = entry;
    await patiently(async () => {
      const line = await this.#known.look();
      const place = line.placeOf(entry.id);
      if (place !== undefined && line.messages[place - 1]?.id === last) return true;
      if (!(await this.holds(last))) return true;
      const { ranges } = await this.#session.rewind(last);
      await this.#session.setLine(
        [...ranges, { session, from: seq, to: seq }],
        "a reply to where it belongs",
      );
      return undefined;
    });
    return entry;
  }

  /** Records entries that were just appended to the line, so that they need not be read again. */
  appended(entries: readonly Entry[]): void {
    this.#known.appended(entries);
  }

  /** Makes the line end with `last`, even if concurrent calls have changed it. */
  async standBehind(last: EntryId | undefined): Promise<void> {
    if (last !== undefined) await patiently(() => this.#endWith(last));
  }

  /** Makes the line end with an entry; false if no line contains it. */
  async #endWith(id: EntryId): Promise<boolean> {
    const line = await this.#known.look();
    if (line.messages.at(-1)?.id === id) return true;
    const place = line.placeOf(id);
    if (place !== undefined) {
      this.#leave(line);
      await this.#rewind(line, place);
      return true;
    }
    const ranges = throughEntry(await this.#session.lines(MOST_LINES), parseEntryId(id));
    if (!ranges) return false;
    this.#leave(line);
    await this.#session.setLine(ranges, "a caller goes on from here");
    return true;
  }

  /** The active line, or an abandoned one that shares more with the given keys. */
  async #closestLine(keys: readonly string[]): Promise<LineSeen> {
    const line = await this.#known.look();
    const same = (seen: LineSeen) => samePrefix(seen.keys, keys);
    const own = same(line);
    if (own === line.messages.length || leftOut(line.keys, keys)) return line;
    const restored = this.#dropped.restoredLine(line, keys);
    if (restored) {
      await this.#dropped.restore(this.#session, restored);
      return this.#known.look();
    }
    const closest = this.#left.find((seen) => same(seen) > own);
    if (!closest) return line;
    this.#leave(line);
    await this.#session.choose(closest.lineSeq);
    return this.#known.look();
  }

  /** Makes the line end with its message at `place`; a place before the first message empties it. */
  async #rewind(line: LineSeen, place: number): Promise<void> {
    const last = line.messages[place];
    if (last) this.#known.rewound(line, place, await this.#session.rewind(last.id));
    else await this.#session.setLine([], "the caller begins anew");
  }

  /** Removes messages from the line in one step. If the line would have too many ranges, restarts it empty. */
  async #drop(line: LineSeen, places: readonly number[]): Promise<void> {
    const ids = places.map((place) => (line.messages[place] as LineMessage).id);
    const count = ids.length === 1 ? "a message" : `${ids.length} messages`;
    try {
      const chosen = await this.#session.remove(ids, { reason: `the caller left out ${count}` });
      this.#dropped.add(places.map((place) => line.messages[place] as LineMessage));
      this.#known.dropped(line, places, chosen);
    } catch (error) {
      if (!isLonghaulError(error, "LINE_LIMIT")) throw error;
      await this.#session.setLine([], "the caller begins anew");
    }
  }

  #leave(line: LineSeen): void {
    if (line.messages.length === 0) return;
    const others = this.#left.filter(({ lineSeq }) => lineSeq !== line.lineSeq);
    this.#left = [line, ...others].slice(0, MOST_LEFT_LINES);
  }

  /** Returns true if the known line has grown by exactly these messages. */
  async #append(given: readonly G[]): Promise<boolean> {
    let isWhole = true;
    for (let from = 0; from < given.length; from += BATCH) {
      const inputs: MessageInput[] = [];
      for (const one of given.slice(from, from + BATCH)) {
        if (one.before) for (const input of await one.before()) inputs.push(input);
        inputs.push(one.input());
      }
      isWhole = this.#known.appended(await this.#session.appendAll(inputs)) && isWhole;
    }
    return isWhole;
  }
}
