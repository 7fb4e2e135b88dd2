import { toEntry } from "../../log/entry-body.ts";
import { type LiveDraft, listLiveDrafts } from "../../log/interrupted-drafts.ts";
import type { LineStep, Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { EntryStore, Head } from "../../log/store/entry-store.ts";
import type { SessionRecord } from "../../log/store/session-store.ts";
import {
  findEntry,
  findEntryAt,
  type Page,
  type PageOptions,
  type RangeOptions,
  readPage,
  readRange,
  requireEntry,
} from "../../log/view/page.ts";
import { findPlaceAtTime, requirePlaceAtTime } from "../../log/view/place-at-time.ts";
import { type TailOptions, tailEntries } from "../../log/view/tail.ts";
import { type EntriesOptions, walkLine } from "../../log/view/walk.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { checkNames } from "../../model/edit-distance.ts";
import type { Entry, EntryRef, Place, SessionId } from "../../model/entry.ts";
import { checkWholeNumber, LonghaulError } from "../../model/errors.ts";
import type { Lifetime } from "../../model/lifetime.ts";
import type { SeqRange } from "../../model/line.ts";
import type { Edit } from "../../model/overlay.ts";
import { readTodos, type TodoItem } from "../../window/compact/extractive/todo-list.ts";
import { findLastCall, type LastCall } from "./find-last-call.ts";

/** Selects the children to list. */
interface ChildrenQuery {
  readonly limit?: number;
  readonly before?: SessionId;
}

const ENTRIES_OPTIONS = ["direction", "from", "to", "kinds", "signal"];

/** Dependencies of a `ReadableSession`. */
interface ReadableSessionDeps {
  readonly id: SessionId;
  readonly log: Log;
  readonly lines: Lines;
  readonly lifetime: Lifetime;
  /** Its signal fires when the session closes. */
  readonly closing: { readonly signal: AbortSignal };
}

/** The read-only part of a session. */
export class ReadableSession {
  readonly id: SessionId;
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #lifetime: Lifetime;
  readonly #closing: ReadableSessionDeps["closing"];

  constructor({ id, log, lines, lifetime, closing }: ReadableSessionDeps) {
    this.id = id;
    this.#log = log;
    this.#lines = lines;
    this.#lifetime = lifetime;
    this.#closing = closing;
  }

  /** The session's metadata. */
  async record(): Promise<SessionRecord> {
    this.#lifetime.assertOpen();
    return (await this.#log.store.sessions.get(this.id)) ?? throwSessionGone(this.id);
  }

  /** Seq and time of the last entry; both 0 if there is none. */
  async head(): Promise<Head> {
    this.#lifetime.assertOpen();
    return this.#log.store.entries.head(this.id);
  }

  /** The head if it is in memory, without a promise; undefined if it must be read. */
  peekHead(): Head | undefined {
    return this.#lifetime.isClosed ? undefined : this.#log.store.entries.peekHead?.(this.id);
  }

  /** Messages being written now, in this process or another. */
  async drafts(): Promise<readonly LiveDraft[]> {
    this.#lifetime.assertOpen();
    return listLiveDrafts(this.#log, this.id);
  }

  /** A page of the active line, the newest by default. */
  async page(options?: PageOptions): Promise<Page> {
    this.#lifetime.assertOpen();
    return readPage(
      this.#lines,
      this.#log.store.entries,
      options === undefined ? {} : checkFields("options", options),
    );
  }

  /**
   * The entries of the active line one by one, oldest first or newest first. A walk stays on the line it began on and
   * ends with the entries that existed then.
   */
  entries(options: EntriesOptions = {}): AsyncGenerator<Entry> {
    this.#lifetime.assertOpen();
    checkNames("options", checkFields("options", options, { signal: "signal?" }), ENTRIES_OPTIONS);
    const { entries } = this.#log.store;
    const lines = this.#lines;
    const find = (which: EntryRef) => requirePlace(lines, entries, which);
    return walkLine({ lines, entries, requirePlace: find }, this.id, options);
  }

  /** Entries of the log in a range of seqs, on any line. */
  async read(options: RangeOptions): Promise<readonly Entry[]> {
    this.#lifetime.assertOpen();
    return readRange(this.#log.store.entries, this.id, checkFields("options", options));
  }

  /** The entry of a seq or id on any line, or the message of an exact time; undefined if there is none. */
  async entry(which: EntryRef): Promise<Entry | undefined> {
    this.#lifetime.assertOpen();
    const { entries } = this.#log.store;
    const place =
      which instanceof Date
        ? await findPlaceAtTime(this.#lines, entries, which)
        : await this.#lines.resolvePlace(which);
    return place && findEntry(entries, place);
  }

  /** The last entry at or before a time; undefined if all are later. */
  async entryAt(at: number | Date): Promise<Entry | undefined> {
    this.#lifetime.assertOpen();
    return findEntryAt(this.#log.store.entries, this.id, at);
  }

  /** Follows the log in order of seq until the signal fires or the session closes. */
  tail(options: TailOptions = {}): AsyncGenerator<Entry> {
    this.#lifetime.assertOpen();
    checkFields("options", options, { signal: "signal?" });
    const closing = this.#closing.signal;
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    return tailEntries(this.#log.store, this.id, this.#lifetime, { ...options, signal });
  }

  /** The messages that a summary or plan removed from the window; for any other entry, the entry itself. */
  async *expand(which: EntryRef): AsyncGenerator<Entry> {
    this.#lifetime.assertOpen();
    const { entries } = this.#log.store;
    yield* expandEntry(entries, await requirePlace(this.#lines, entries, which));
  }

  /**
   * The to-do list of the active line, as the agent last wrote it there: after a rewind, an edit or another line, it is
   * the list of the line now chosen.
   */
  async todos(): Promise<readonly TodoItem[]> {
    return readTodos(this.entries({ direction: "older", kinds: ["message"] }));
  }

  /** The model of the latest call and the sizes of its system prompt and tools, to open the window of the next one. */
  async lastCall(): Promise<LastCall> {
    return findLastCall(this);
  }

  /** The lines so far, newest first; any of them can be chosen again. */
  async lines(limit?: number): Promise<readonly LineStep[]> {
    this.#lifetime.assertOpen();
    return this.#lines.history(limit === undefined ? undefined : checkWholeNumber("limit", limit, 1));
  }

  /** Children and forks, newest first. */
  async children(query: ChildrenQuery = {}): Promise<readonly SessionRecord[]> {
    this.#lifetime.assertOpen();
    checkFields("query", query, { before: "text?" });
    const limit = checkWholeNumber("limit", query.limit ?? 100, 1, 1_000);
    return this.#log.store.sessions.list({ ...query, limit, parent: this.id });
  }
}

function throwSessionGone(id: SessionId): never {
  throw new LonghaulError("SESSION_NOT_FOUND", `Session ${JSON.stringify(id)} has been deleted.`, {
    details: { session: id },
  });
}

const BATCH = 100;

/**
 * Expands an entry: a summary or plan yields the messages that left the window with it, including earlier summaries, in
 * log order; any other entry yields itself. Streams the messages.
 */
async function* expandEntry(entries: EntryStore, place: Place): AsyncGenerator<Entry> {
  const entry = await requireEntry(entries, place);
  const ranges = entry.kind === "overlay" ? listRanges(entry.edit, entry.session) : [];
  if (ranges.length === 0) {
    yield entry;
    return;
  }
  for (const range of ranges) yield* readMessages(entries, range);
}

/** The ranges of entries that an edit affects. */
function listRanges(edit: Edit, session: string): readonly SeqRange[] {
  switch (edit.type) {
    case "plan":
      return edit.edits.flatMap((single) => listRanges(single, session)).sort((a, b) => a.from - b.from);
    case "replace": {
      if ("callId" in edit.target) return [];
      const { seq, session: own = session } = edit.target;
      return [{ session: own, from: seq, to: seq }];
    }
    case "hide":
    case "summarize":
      return edit.ranges;
    case "revert":
      return [];
  }
}

async function* readMessages(entries: EntryStore, { session, from, to }: SeqRange): AsyncGenerator<Entry> {
  for (let next = from; next <= to; ) {
    const query = { from: next, to, limit: BATCH, order: "ascending", kinds: ["message"] } as const;
    const found = await entries.read(session, query);
    for (const stored of found) yield toEntry(session, stored);
    const last = found.at(-1);
    if (!last || found.length < BATCH) return;
    next = last.seq + 1;
  }
}

/** The place of an entry by seq, id or time; throws ENTRY_NOT_FOUND if there is none. */
export async function requirePlace(lines: Lines, entries: EntryStore, which: EntryRef): Promise<Place> {
  if (which instanceof Date) return requirePlaceAtTime(lines, entries, which);
  const { session, seq } = await requireEntry(entries, await lines.resolvePlace(which));
  return { session, seq };
}
