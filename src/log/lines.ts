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
  buildRemoval,
  buildReplacement,
  changeLine,
  checkRanges,
  checkWithin,
  closeLine,
  findRemoval,
  keepBefore,
  keepThrough,
  type Line,
  type LineChange,
  type SeqRange,
} from "../model/line.ts";
import type { MessageInput } from "../model/message.ts";
import { toEntry } from "./entry-body.ts";
import { keepEdits, type OwnLine, replaceOwnLine } from "./kept-edits.ts";
import type { Log } from "./log.ts";
import type { ReadyBody } from "./spilled-parts.ts";
import type { NewSession } from "./store/session-store.ts";

/** A line with the seq of the entry that chose it; 0 for a session's initial line. */
interface ChosenLine {
  readonly seq: number;
  readonly line: Line;
}

/** The fields of a line entry. */
type StoredLine = { readonly seq: number } & Omit<LineBody, "kind" | "departure">;

/** A line with its predecessor. */
interface LoadedLine extends ChosenLine, Pick<LineBody, "previous" | "previousEnd" | "reason"> {
  /** Number of entries before it that must be read too, because each stores only its change. */
  readonly depth: number;
}

/** One step in the history of a session's lines. */
export interface LineStep {
  /** Pass this to `choose` to return to this line. */
  readonly seq: number;
  readonly reason: string;
  readonly ranges: readonly SeqRange[];
  readonly isActive: boolean;
}

/** The reason for a change of the line, and why entries leave it. */
interface ChangeOptions {
  readonly reason?: string;
  readonly departure?: LineDeparture;
}

type RewindChange = ChangeOptions & { readonly keepsEdits?: boolean };

/** Maximum retries of a change while others keep appending. */
const MAX_TRIES = 200;
/** Longest walk through the history of lines. */
const MAX_HISTORY = 10_000;

/** Lines with fewer ranges are stored whole, because a change would hardly be shorter. */
const MIN_CHANGED_RANGES = 16;

/** The choice of a session's initial line. */
const START = { seq: 0, previous: 0, previousEnd: 0, reason: "start", depth: 0 };
const TAKING_BACK = { departure: "taken-back" } as const satisfies ChangeOptions;

function toLineFields({
  reason,
  departure,
}: Required<ChangeOptions>): Pick<LineBody, "reason" | "departure"> {
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
  async resolvePlace(which: number | EntryId): Promise<Place> {
    if (typeof which === "number") return { session: this.#session, seq: checkWholeNumber("seq", which, 1) };
    const place = parseEntryId(which);
    if (place.session === this.#session) return place;
    const { line } = await this.active();
    if (line.some(({ session }) => session === place.session)) return place;
    throw createArgumentError("entry id", which, `an id of session ${JSON.stringify(this.#session)}`);
  }

  /** The active line. */
  async active(): Promise<LoadedLine> {
    const { sessions } = this.#log.store;
    const record = sessions.peek?.(this.#session)?.record ?? (await sessions.get(this.#session));
    if (!record)
      throw new LonghaulError(
        "SESSION_NOT_FOUND",
        `Session ${JSON.stringify(this.#session)} has been deleted.`,
        { details: { session: this.#session } },
      );
    return this.#known?.seq === record.lineSeq ? this.#known : this.#load(record.lineSeq);
  }

  /** The line chosen at `seq`, up to its end when the next one was chosen. */
  async at(seq: number): Promise<ChosenLine> {
    const active = await this.active();
    if (active.seq === seq) return active;
    let next: Pick<StoredLine, "seq" | "previous" | "previousEnd"> = active;
    for (let step = 0; next.seq > 0 && step < MAX_HISTORY; step++) {
      if (next.previous === seq)
        return { seq, line: closeLine((await this.#load(seq)).line, next.previousEnd) };
      next = next.previous === 0 ? START : await this.#read(next.previous);
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
    let { seq: oldest } = await this.active();
    const { seq: head } = await this.#log.store.entries.head(this.#session);
    const newer: StoredLine[] = [];
    while (oldest > 0 && newer.length < limit - 1) {
      newer.push(await this.#read(oldest));
      oldest = (newer.at(-1) as StoredLine).previous;
    }
    const lines = [await this.#load(oldest)];
    for (const stored of newer.toReversed()) lines.push(this.#follow(lines.at(-1) as LoadedLine, [stored]));
    this.#known = lines.at(-1);
    return lines.toReversed().map(({ seq, reason, line }, index) => ({
      seq,
      reason,
      ranges: closeLine(line, newer[index - 1]?.previousEnd ?? head),
      isActive: index === 0,
    }));
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

  async #keepThrough(line: Line, head: number, place: Place, keepsEdits = false): Promise<Line> {
    return keepsEdits ? keepEdits(this.#log.store.entries, line, head, place) : keepThrough(line, place);
  }

  /** Removes entries from the line in one step. */
  remove(places: readonly Place[], change: ChangeOptions = {}): Promise<Entry<LineBody>> {
    return this.#change({ ...TAKING_BACK, reason: "remove", ...change }, async (line, head) =>
      buildRemoval(closeLine(line, head), places),
    );
  }

  /** Returns to an earlier line, up to its former end. */
  async choose(seq: number, change: ChangeOptions = {}): Promise<Entry<LineBody>> {
    const { line } = await this.at(seq);
    return this.#change({ ...TAKING_BACK, reason: "choose", ...change }, async (_, head) =>
      closeLine(line, head),
    );
  }

  /** Sets arbitrary ranges as the line; for importers that know the branches of a foreign log. */
  async set(
    ranges: readonly SeqRange[],
    change: ChangeOptions & Pick<LineBody, "reason">,
    { at, instead }: { readonly at?: number | undefined; readonly instead?: OwnLine | undefined } = {},
  ): Promise<Entry<LineBody>> {
    checkRanges(ranges);
    const next = async (line: Line, head: number) => {
      checkWithin(ranges, { session: this.#session, seq: head });
      return instead
        ? replaceOwnLine(this.#log.store.entries, closeLine(line, head), ranges, instead)
        : ranges;
    };
    return this.#change({ departure: "branched", ...change }, next, at);
  }

  /** Replaces an entry and drops everything after it, to continue from there. */
  async edit(place: Place, message: MessageInput, change: ChangeOptions = {}): Promise<Entry<MessageBody>> {
    const why = toLineFields({ ...TAKING_BACK, reason: "edit", ...change });
    const ready = await this.#log.prepare(message);
    const [, edited] = await this.#withMessage(ready, async (head, active) => {
      const choice = { body: { ...describeLine(active, head, keepBefore(active.line, place)).body, ...why } };
      return this.#log.append<LineBody | MessageBody>(this.#session, [choice, ready], {
        expectedHead: head,
        retries: true,
      });
    });
    return edited as Entry<MessageBody>;
  }

  /** Replaces an entry and keeps everything after it. */
  async replace(
    place: Place,
    message: MessageInput,
    change: ChangeOptions = {},
  ): Promise<Entry<MessageBody>> {
    const why = toLineFields({ ...TAKING_BACK, reason: "replace", ...change });
    const ready = await this.#log.prepare(message);
    const [replaced] = await this.#withMessage(ready, async (head, active) => {
      const inserted = [{ session: this.#session, from: head + 1, to: head + 1 }];
      const next = buildReplacement(closeLine(active.line, head), place, inserted);
      const choice = { body: { ...describeLine(active, head, next).body, ...why } };
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
    change: Required<ChangeOptions>,
    next: (line: Line, head: number) => Promise<Line | LineChange>,
    at?: number,
  ): Promise<Entry<LineBody>> {
    const why = toLineFields(change);
    return this.#retryAtHead(async (head, active) => {
      const { ranges, body } = describeLine(active, head, await next(active.line, head));
      const [stored] = await this.#log.append<LineBody>(
        this.#session,
        [{ body: { ...body, ...why } }],
        at === undefined ? { expectedHead: head } : { expectedHead: head, at },
      );
      // The next change would otherwise read and parse this line again, which takes longer the more ranges it has.
      this.#known = this.#follow(active, [stored as Entry<LineBody>]);
      const { removed: _, inserted: __, ...entry } = stored as Entry<LineBody>;
      return { ...entry, ranges };
    });
  }

  /** Like `#retryAtHead`, for a change with a message: its blobs are kept across retries and released if all fail. */
  async #withMessage<T>(
    ready: ReadyBody,
    change: (head: number, active: LoadedLine) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#retryAtHead(change);
    } catch (error) {
      await this.#log.releaseHolds(ready.holds ?? []);
      throw error;
    }
  }

  /** Executes a change that depends on the current head; retries it while others append. */
  async #retryAtHead<T>(change: (head: number, active: LoadedLine) => Promise<T>): Promise<T> {
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

  /** Reads a line back to the last entry that holds it whole, and applies the changes since. */
  async #load(seq: number): Promise<LoadedLine> {
    const newer: StoredLine[] = [];
    let known = this.#peek(seq);
    while (!known) {
      const stored = await this.#read(newer.at(-1)?.previous ?? seq);
      newer.push(stored);
      known = this.#peek(stored.removed ? stored.previous : 0);
    }
    this.#known = this.#follow(known, newer.toReversed());
    return this.#known;
  }

  /**
   * Reads a line entry. A damaged one changes nothing: the previous line continues, so that no message is lost.
   */
  async #read(seq: number): Promise<StoredLine> {
    const { entries } = this.#log.store;
    const stored = await entries.get(this.#session, seq);
    const entry = stored && toEntry(this.#session, stored);
    if (entry?.kind === "line") return entry;
    const query = { from: 1, to: seq - 1, limit: 1, order: "descending", kinds: ["line"] } as const;
    const [earlier] = await entries.read(this.#session, query);
    return {
      seq,
      ranges: [],
      removed: [],
      previous: earlier?.seq ?? 0,
      previousEnd: seq - 1,
      reason: "damaged",
    };
  }

  /** The line after a series of entries. Removals are applied together, because each would copy all ranges. */
  #follow(before: LoadedLine, entries: readonly StoredLine[]): LoadedLine {
    let loaded = before;
    let ranges = [...before.line];
    let removed: SeqRange[] = [];
    for (const entry of entries) {
      const { seq, previous, previousEnd, reason, inserted } = entry;
      const depth = entry.removed ? loaded.depth + 1 : 0;
      ranges.push({ ...(ranges.pop() as SeqRange), to: previousEnd });
      if (entry.removed && !inserted) removed.push(...entry.removed);
      else {
        const change = entry.removed && { removed: entry.removed, inserted };
        ranges = [...(change ? changeLine(changeLine(ranges, { removed }), change) : entry.ranges)];
        removed = [];
      }
      ranges.push({ session: this.#session, from: seq + 1, to: Number.POSITIVE_INFINITY });
      loaded = { seq, line: ranges, previous, previousEnd, reason, depth };
    }
    return { ...loaded, line: removed.length > 0 ? changeLine(ranges, { removed }) : ranges };
  }
}

/**
 * The ranges of the next line, and the body that stores them. A line of many ranges stores only its change, because many
 * removals would else store every range again each time; after as many changes as it has ranges it is stored whole, so
 * that reading it stays short.
 */
function describeLine(
  { seq: previous, line, depth }: LoadedLine,
  head: number,
  next: Line | LineChange,
): { readonly ranges: Line; readonly body: Omit<LineBody, "reason" | "departure"> } {
  const closed = closeLine(line, head);
  const ranges = "removed" in next ? changeLine(closed, next) : next;
  const whole = { kind: "line", ranges, previous, previousEnd: head } as const;
  if (ranges.length < MIN_CHANGED_RANGES || depth >= ranges.length) return { ranges, body: whole };
  const change = "removed" in next ? next : findRemoval(closed, ranges);
  if (!change || change.removed.length * 2 > ranges.length) return { ranges, body: whole };
  return { ranges, body: { ...whole, ranges: ranges.slice(-1), ...change } };
}
