import { checkRanges, checkWithin } from "../model/check-ranges.ts";
import {
  type Entry,
  type EntryId,
  type LineBody,
  type LineDeparture,
  type MessageBody,
  type Place,
  parseEntryId,
  type SessionId,
} from "../model/entry.ts";
import { checkWholeNumber, createArgumentError, isLonghaulError, LonghaulError } from "../model/errors.ts";
import {
  buildLineAfter,
  closeLine,
  keepBefore,
  keepThrough,
  type Line,
  removePlaces,
  replacePlace,
  type SeqRange,
} from "../model/line.ts";
import type { MessageInput } from "../model/message.ts";
import type { NewSession } from "../store/session-store.ts";
import type { ReadyBody } from "./absorb-message.ts";
import { toEntry } from "./entry-body.ts";
import { keepEdits } from "./keep-edits.ts";
import type { Log } from "./log.ts";

/** A line with the seq of the entry that chose it; 0 for a session's initial line. */
interface ChosenLine {
  readonly seq: number;
  readonly line: Line;
}

/** A line with its predecessor. */
type LoadedLine = ChosenLine & Pick<LineBody, "previous" | "previousEnd" | "reason">;

/** One step in the history of a session's lines. */
export interface LineStep {
  /** Pass this to `choose` to return to this line. */
  readonly seq: number;
  readonly reason: string;
  readonly ranges: readonly SeqRange[];
  readonly isActive: boolean;
}

/** The reason for a change of the line, and why entries leave it. */
interface LineChange {
  readonly reason?: string;
  readonly departure?: LineDeparture;
}

type RewindChange = LineChange & { readonly keepsEdits?: boolean };

/** Maximum retries of a change while others keep appending. */
const MAX_TRIES = 200;
/** Longest walk through the history of lines. */
const MAX_HISTORY = 10_000;

/** The choice of a session's initial line. */
const START = { seq: 0, previous: 0, previousEnd: 0, reason: "start" };
const TAKING_BACK = { departure: "taken-back" } as const satisfies LineChange;

function toLineFields({ reason, departure }: Required<LineChange>): Pick<LineBody, "reason" | "departure"> {
  return { reason, ...(departure !== "branched" && { departure }) };
}

/** The lines of one session: the active one, earlier ones, and changes to it. Entries are never deleted. */
export class Lines {
  readonly #log: Log;
  readonly #session: SessionId;
  /** The last loaded line; line entries never change. */
  #known: LoadedLine | undefined;

  constructor(log: Log, session: SessionId) {
    this.#log = log;
    this.#session = session;
  }

  /**
   * Resolves an entry by seq of this session or by id; ids may belong to other sessions whose entries are on the line.
   */
  resolvePlace(which: number | EntryId): Place | Promise<Place> {
    if (typeof which === "number") return { session: this.#session, seq: checkWholeNumber("seq", which, 1) };
    const place = parseEntryId(which);
    return place.session === this.#session ? place : this.#resolveSharedPlace(place, which);
  }

  async #resolveSharedPlace(place: Place, which: EntryId): Promise<Place> {
    const { line } = await this.active();
    if (line.some(({ session }) => session === place.session)) return place;
    throw createArgumentError("entry id", which, `an id of session ${JSON.stringify(this.#session)}`);
  }

  /** The active line; no promise if it is in memory. */
  active(): ChosenLine | Promise<ChosenLine> {
    const seq = this.#log.store.sessions.peek?.(this.#session)?.record?.lineSeq;
    const known = seq === undefined ? undefined : this.#peek(seq);
    return known ?? this.#readActive();
  }

  async #readActive(): Promise<ChosenLine> {
    const record = await this.#log.store.sessions.get(this.#session);
    if (!record)
      throw new LonghaulError(
        "SESSION_NOT_FOUND",
        `Session ${JSON.stringify(this.#session)} has been deleted.`,
        { details: { session: this.#session } },
      );
    return this.#load(record.lineSeq);
  }

  /** The line chosen at `seq`, up to its end when the next one was chosen. */
  async at(seq: number): Promise<ChosenLine> {
    const active = await this.active();
    if (active.seq === seq) return active;
    let next = await this.#load(active.seq);
    for (let step = 0; next.seq > 0 && step < MAX_HISTORY; step++) {
      if (next.previous === seq)
        return { seq, line: closeLine((await this.#load(seq)).line, next.previousEnd) };
      next = await this.#load(next.previous);
    }
    throw new LonghaulError(
      "ENTRY_NOT_FOUND",
      `No line of session ${JSON.stringify(this.#session)} was chosen at ${seq}; session.lines() lists them.`,
      {
        details: { session: this.#session, seq },
      },
    );
  }

  /** All lines so far, newest first. */
  async history(limit = 100): Promise<readonly LineStep[]> {
    const steps: LineStep[] = [];
    let chosen = await this.#load((await this.active()).seq);
    let end = (await this.#log.store.entries.head(this.#session)).seq;
    for (;;) {
      steps.push({
        seq: chosen.seq,
        reason: chosen.reason,
        ranges: closeLine(chosen.line, end),
        isActive: steps.length === 0,
      });
      if (chosen.seq === 0 || steps.length === limit) return steps;
      end = chosen.previousEnd;
      chosen = await this.#load(chosen.previous);
    }
  }

  /**
   * Rewinds to just after an entry: later entries leave the line but stay in the log. With `keepsEdits`, overlays that
   * concern no later message stay on the line.
   */
  rewind(place: Place, { keepsEdits, ...change }: RewindChange = {}): Promise<Entry<LineBody>> {
    return this.#change({ ...TAKING_BACK, reason: "rewind", ...change }, (line, head) =>
      this.#keepThrough(line, head, place, keepsEdits),
    );
  }

  #keepThrough(line: Line, head: number, place: Place, keepsEdits = false): Line | Promise<Line> {
    return keepsEdits ? keepEdits(this.#log.store.entries, line, head, place) : keepThrough(line, place);
  }

  /** Removes entries from the line in one step. */
  remove(places: readonly Place[], change: LineChange = {}): Promise<Entry<LineBody>> {
    return this.#change({ ...TAKING_BACK, reason: "remove", ...change }, (line, head) =>
      removePlaces(closeLine(line, head), places),
    );
  }

  /** Returns to an earlier line, up to its former end. */
  async choose(seq: number, change: LineChange = {}): Promise<Entry<LineBody>> {
    const { line } = await this.at(seq);
    return this.#change({ ...TAKING_BACK, reason: "choose", ...change }, (_, head) => closeLine(line, head));
  }

  /** Sets arbitrary ranges as the line; for importers that know the branches of a foreign log. */
  async set(
    ranges: readonly SeqRange[],
    change: LineChange & Pick<LineBody, "reason">,
    at?: number,
  ): Promise<Entry<LineBody>> {
    checkRanges(ranges);
    const next = (_: Line, head: number) => checkWithin(ranges, { session: this.#session, seq: head });
    return this.#change({ departure: "branched", ...change }, next, at);
  }

  /** Replaces an entry and drops everything after it, to continue from there. */
  async edit(place: Place, message: MessageInput, change: LineChange = {}): Promise<Entry<MessageBody>> {
    const why = toLineFields({ ...TAKING_BACK, reason: "edit", ...change });
    const ready = await this.#log.prepare(message);
    const [, edited] = await this.#withMessage(ready, async (head, { seq: previous, line }) => {
      const ranges = keepBefore(line, place);
      const choice: ReadyBody<LineBody> = {
        body: { kind: "line", ranges, ...why, previous, previousEnd: head },
      };
      return this.#log.append<LineBody | MessageBody>(this.#session, [choice, ready], {
        expectedHead: head,
        retries: true,
      });
    });
    return edited as Entry<MessageBody>;
  }

  /** Replaces an entry and keeps everything after it. */
  async replace(place: Place, message: MessageInput, change: LineChange = {}): Promise<Entry<MessageBody>> {
    const why = toLineFields({ ...TAKING_BACK, reason: "replace", ...change });
    const ready = await this.#log.prepare(message);
    const [replaced] = await this.#withMessage(ready, async (head, { seq: previous, line }) => {
      const inserted = [{ session: this.#session, from: head + 1, to: head + 1 }];
      const ranges = replacePlace(closeLine(line, head), place, inserted);
      const choice: ReadyBody<LineBody> = {
        body: { kind: "line", ranges, ...why, previous, previousEnd: head },
      };
      return this.#log.append<LineBody | MessageBody>(this.#session, [ready, choice], {
        expectedHead: head,
        retries: true,
      });
    });
    return replaced as Entry<MessageBody>;
  }

  /** Creates a session whose line is this one's, up to a place or to the current end. */
  async forkInto(create: NewSession, at: Place | undefined, keepsEdits = false): Promise<void> {
    // Read the head first: if the line changes in between, the new line is cut at that head.
    const { seq: head } = await this.#log.store.entries.head(this.#session);
    const { line } = await this.active();
    const ranges = at ? await this.#keepThrough(line, head, at, keepsEdits) : closeLine(line, head);
    const body: LineBody = {
      kind: "line",
      ranges,
      reason: `fork of ${this.#session}`,
      previous: 0,
      previousEnd: 0,
    };
    await this.#log.appendOne(create.id, { body }, { create, expectedHead: 0 });
  }

  async #change(
    change: Required<LineChange>,
    next: (line: Line, head: number) => Line | Promise<Line>,
    at?: number,
  ): Promise<Entry<LineBody>> {
    const why = toLineFields(change);
    const [entry] = await this.#retryAtHead(async (head, { seq: previous, line }) => {
      const ranges = await next(line, head);
      return this.#log.append<LineBody>(
        this.#session,
        [{ body: { kind: "line", ranges, ...why, previous, previousEnd: head } }],
        at === undefined ? { expectedHead: head } : { expectedHead: head, at },
      );
    });
    // The next change would otherwise read and parse this line again, which takes longer the more ranges it has.
    this.#keep(entry as Entry<LineBody>);
    return entry as Entry<LineBody>;
  }

  /** Like `#atHead`, for a change with a message: its blobs are kept across retries and released if all fail. */
  async #withMessage<T>(
    ready: ReadyBody,
    change: (head: number, active: ChosenLine) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#retryAtHead(change);
    } catch (error) {
      await this.#log.releaseHolds(ready.holds ?? []);
      throw error;
    }
  }

  /** Executes a change that depends on the current head; retries it while others append. */
  async #retryAtHead<T>(change: (head: number, active: ChosenLine) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const { seq: head } = await this.#log.store.entries.head(this.#session);
      try {
        return await change(head, await this.active());
      } catch (error) {
        if (!isLonghaulError(error, "POSITION_CONFLICT") || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** The line chosen at `seq` if it is known. */
  #peek(seq: number): LoadedLine | undefined {
    if (this.#known?.seq === seq) return this.#known;
    if (seq > 0) return undefined;
    return { ...START, line: buildLineAfter(this.#session, 0, []) };
  }

  async #load(seq: number): Promise<LoadedLine> {
    const known = this.#peek(seq);
    if (known) return known;
    const stored = await this.#log.store.entries.get(this.#session, seq);
    const entry = stored && toEntry(this.#session, stored);
    return entry?.kind === "line" ? this.#keep(entry) : this.#loadBefore(seq);
  }

  #keep({ seq, ranges, previous, previousEnd, reason }: Entry<LineBody>): LoadedLine {
    this.#known = { seq, line: buildLineAfter(this.#session, seq, ranges), previous, previousEnd, reason };
    return this.#known;
  }

  /** Substitutes a damaged line entry: the previous line continues unchanged, so nothing is lost. */
  async #loadBefore(seq: number): Promise<LoadedLine> {
    const query = { from: 1, to: seq - 1, limit: 1, order: "descending", kinds: ["line"] } as const;
    const [earlier] = await this.#log.store.entries.read(this.#session, query);
    const { seq: previous, line } = await this.#load(earlier?.seq ?? 0);
    const ranges = closeLine(line, seq - 1);
    const reason = "damaged";
    return { seq, line: buildLineAfter(this.#session, seq, ranges), previous, previousEnd: seq - 1, reason };
  }
}
