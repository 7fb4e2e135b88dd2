import { readTodos, type TodoItem } from "../compact/extractive/todo-list.ts";
import { type LiveDraft, listLiveDrafts } from "../log/interrupted-drafts.ts";
import type { LineStep, Lines } from "../log/lines.ts";
import type { Log } from "../log/log.ts";
import { checkFields } from "../model/argument-checks.ts";
import { checkNames } from "../model/check-names.ts";
import type { Entry, EntryRef, SessionId } from "../model/entry.ts";
import { checkWholeNumber, LonghaulError } from "../model/errors.ts";
import type { Scope } from "../model/scope.ts";
import type { Head } from "../store/entry-store.ts";
import type { SessionRecord } from "../store/session-store.ts";
import { expandEntry } from "../view/expand-entry.ts";
import { type EntriesOptions, walkLine } from "../view/line-entries.ts";
import { findEntry, findEntryAt } from "../view/lookup.ts";
import { type Page, type PageOptions, readPage } from "../view/page.ts";
import { findPlaceAtTime } from "../view/place-at-time.ts";
import { type RangeOptions, readRange } from "../view/range.ts";
import { type TailOptions, tailEntries } from "../view/tail.ts";
import { findLastCall, type LastCall } from "./find-last-call.ts";
import { requirePlace } from "./require-place.ts";

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
  readonly scope: Scope;
  /** Its signal fires when the session closes. */
  readonly closing: { readonly signal: AbortSignal };
}

/** The read-only part of a session. */
export class ReadableSession {
  readonly id: SessionId;
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #scope: Scope;
  readonly #closing: ReadableSessionDeps["closing"];

  constructor({ id, log, lines, scope, closing }: ReadableSessionDeps) {
    this.id = id;
    this.#log = log;
    this.#lines = lines;
    this.#scope = scope;
    this.#closing = closing;
  }

  /** The session's metadata. */
  async record(): Promise<SessionRecord> {
    this.#scope.assertOpen();
    return (await this.#log.store.sessions.get(this.id)) ?? throwSessionGone(this.id);
  }

  /** Seq and time of the last entry; both 0 if there is none. */
  async head(): Promise<Head> {
    this.#scope.assertOpen();
    return this.#log.store.entries.head(this.id);
  }

  /** The head if it is in memory, without a promise; undefined if it must be read. */
  peekHead(): Head | undefined {
    return this.#scope.isClosed ? undefined : this.#log.store.entries.peekHead?.(this.id);
  }

  /** The session's metadata if they are in memory, without a promise; undefined if they must be read. */
  peekRecord(): SessionRecord | undefined {
    return this.#scope.isClosed ? undefined : this.#log.store.sessions.peek?.(this.id)?.record;
  }

  /** Messages being written now, in this process or another. */
  async drafts(): Promise<readonly LiveDraft[]> {
    this.#scope.assertOpen();
    return listLiveDrafts(this.#log, this.id);
  }

  /** A page of the active line, the newest by default. */
  async page(options?: PageOptions): Promise<Page> {
    this.#scope.assertOpen();
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
    this.#scope.assertOpen();
    checkNames("options", checkFields("options", options, { signal: "signal?" }), ENTRIES_OPTIONS);
    const { entries } = this.#log.store;
    const lines = this.#lines;
    const find = (which: EntryRef) => requirePlace(lines, entries, which);
    return walkLine({ lines, entries, requirePlace: find }, this.id, options);
  }

  /** Entries of the log in a range of seqs, on any line. */
  async read(options: RangeOptions): Promise<readonly Entry[]> {
    this.#scope.assertOpen();
    return readRange(this.#log.store.entries, this.id, checkFields("options", options));
  }

  /** The entry of a seq or id on any line, or the message of an exact time; undefined if there is none. */
  entry(which: EntryRef): Promise<Entry | undefined> {
    try {
      this.#scope.assertOpen();
      const { entries } = this.#log.store;
      if (which instanceof Date)
        return findPlaceAtTime(this.#lines, entries, which).then(
          (found) => found && findEntry(entries, found),
        );
      const place = this.#lines.resolvePlace(which);
      return place instanceof Promise
        ? place.then((shared) => findEntry(entries, shared))
        : findEntry(entries, place);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The last entry at or before a time; undefined if all are later. */
  async entryAt(at: number | Date): Promise<Entry | undefined> {
    this.#scope.assertOpen();
    return findEntryAt(this.#log.store.entries, this.id, at);
  }

  /** Follows the log in order of seq until the signal fires or the session closes. */
  tail(options: TailOptions = {}): AsyncGenerator<Entry> {
    this.#scope.assertOpen();
    checkFields("options", options, { signal: "signal?" });
    const closing = this.#closing.signal;
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    return tailEntries(this.#log.store, this.id, this.#scope, { ...options, signal });
  }

  /** The messages that a summary or plan removed from the window; for any other entry, the entry itself. */
  async *expand(which: EntryRef): AsyncGenerator<Entry> {
    this.#scope.assertOpen();
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
    this.#scope.assertOpen();
    return this.#lines.history(limit === undefined ? undefined : checkWholeNumber("limit", limit, 1));
  }

  /** Children and forks, newest first. */
  async children(query: ChildrenQuery = {}): Promise<readonly SessionRecord[]> {
    this.#scope.assertOpen();
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
