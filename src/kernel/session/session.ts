import { Appender, type AppendOptions, NO_OPTIONS, type ReplyEntries } from "../../log/appender.ts";
import { Draft } from "../../log/draft.ts";
import type { ErasurePlan, FindQuotes } from "../../log/erasing/plan-erasure.ts";
import { Facts } from "../../log/facts.ts";
import { Intake } from "../../log/intake.ts";
import type { OwnLine } from "../../log/kept-edits.ts";
import { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import { PendingEdits } from "../../log/pending-edits.ts";
import { previewErasure, redactWithTraces } from "../../log/redaction.ts";
import type { FreedCounts } from "../../log/store/freed-counts.ts";
import type { RecordChange, SessionRecord } from "../../log/store/session-store.ts";
import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { checkNames } from "../../model/edit-distance.ts";
import {
  checkDeparture,
  type Entry,
  type EntryRef,
  type LineBody,
  type LineDeparture,
  type MessageBody,
  type NoticeBody,
  type PinBody,
  type Place,
  type SessionId,
  type UsageBody,
} from "../../model/entry.ts";
import { checkWholeNumber, createArgumentError } from "../../model/errors.ts";
import { Lifetime } from "../../model/lifetime.ts";
import type { SeqRange } from "../../model/line.ts";
import type { MessageInput } from "../../model/message.ts";
import { checkRequestEnd } from "../../model/request-end.ts";
import type { CompactionResult } from "../../window/compact/compactor.ts";
import { Overlays } from "../../window/overlays.ts";
import type { PageSource } from "../../window/paging/page-source.ts";
import type { SessionWindow } from "../../window/session/session-window.ts";
import { type DescendantOptions, Family, type OpenSession } from "./family.ts";
import { ReadableSession, requirePlace } from "./readable-session.ts";
import {
  type SessionCompactOptions,
  type SessionModels,
  type SessionWindowOptions,
  SessionWindows,
} from "./session-windows.ts";

/** Dependencies of a session, from its kernel. */
interface SessionDeps {
  readonly id: SessionId;
  readonly log: Log;
  readonly owner: string;
  readonly lifetime: Lifetime;
  /** Opens another session of the same kernel, owned by `lifetime`. */
  readonly open: OpenSession<Session>;
  readonly models: SessionModels;
  readonly paging: PageSource;
  /** Finds copies of erased words in other sessions. */
  readonly findQuotes: FindQuotes;
}

/**
 * One conversation. A handle is light: it keeps no entries in memory, and several may be open on one
 * session, in one process or many.
 */
export class Session extends ReadableSession implements AsyncDisposable {
  readonly edits: PendingEdits;
  /** The edits between log and window, and how to revert them. */
  readonly overlays: Overlays;
  /** Small named facts of the session, stored apart from its log. */
  readonly facts: Facts;
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #appender: Appender;
  readonly #owner: string;
  readonly #findQuotes: FindQuotes;
  readonly #parentLifetime: Lifetime;
  readonly #lifetime: Lifetime;
  readonly #family: Family<Session>;
  readonly #windows: SessionWindows;
  readonly #closing: LazyAbortController;

  constructor({ id, log, owner, lifetime: parentLifetime, open, models, paging, findQuotes }: SessionDeps) {
    const lifetime = new Lifetime("session", parentLifetime.census);
    const lines = new Lines(log, id);
    const closing = new LazyAbortController();
    super({ id, log, lines, lifetime, closing });
    this.#log = log;
    this.#owner = owner;
    this.#findQuotes = findQuotes;
    this.#parentLifetime = parentLifetime;
    this.#lifetime = lifetime;
    this.#closing = closing;
    this.#lines = lines;
    this.#appender = new Appender(log, id);
    this.edits = lifetime.own(new PendingEdits(log, this));
    this.overlays = new Overlays(log, lines, id);
    this.facts = new Facts(log, id);
    this.#family = new Family(log, lines, id, open);
    const [flush, findLastCall] = [this.flush.bind(this), this.lastCall.bind(this)];
    const windows = new SessionWindows({ session: id, log, lines, models, flush, findLastCall, paging });
    this.#windows = lifetime.own(windows);
    parentLifetime.own(this);
  }

  /** Appends one message; resolves when it is committed. */
  append(message: MessageInput, options: AppendOptions = NO_OPTIONS): Promise<Entry<MessageBody>> {
    try {
      this.#lifetime.assertOpen();
      return this.#appender.message(message, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Appends messages consecutively; all or none. */
  async appendAll(
    messages: readonly MessageInput[],
    options: AppendOptions = {},
  ): Promise<readonly Entry<MessageBody>[]> {
    this.#lifetime.assertOpen();
    return this.#appender.messages(messages, options);
  }

  /** Appends a reply and the usage report of its call in one commit. */
  async appendReply(
    message: MessageInput,
    usage: UsageBody,
    options: AppendOptions = NO_OPTIONS,
  ): Promise<ReplyEntries> {
    this.#lifetime.assertOpen();
    return this.#appender.reply(message, usage, options);
  }

  /** Appends a note for people, which is never sent to a model; `requestEnd` says why a request ended. */
  async note(text: string, options: Pick<NoticeBody, "requestEnd"> = {}): Promise<Entry<NoticeBody>> {
    this.#lifetime.assertOpen();
    if (typeof text !== "string") throw createArgumentError("text", text, "a string");
    const { requestEnd } = checkFields("options", options, { requestEnd: "object?" });
    return this.#appender.body({
      kind: "notice",
      text,
      ...(requestEnd && { requestEnd: checkRequestEnd(requestEnd) }),
    });
  }

  /** Starts a message that will arrive in pieces. */
  draft(start: MessageInput): Draft {
    this.#lifetime.assertOpen();
    return new Draft({
      session: this.id,
      log: this.#log,
      owner: this.#owner,
      lifetime: this.#lifetime,
      start,
    });
  }

  /**
   * Changes title or meta. A function gets the present record and returns the new fields, so that nothing is lost that
   * others change at the same moment; it may be called more than once.
   */
  async update(change: RecordChange): Promise<SessionRecord> {
    this.#lifetime.assertOpen();
    const check = <Fields extends object>(fields: Fields) =>
      checkFields("change", fields, { title: "text?", meta: "json?" });
    const { erased, store } = this.#log;
    const screen = async (title: string | undefined) =>
      title === undefined ? {} : { title: await erased.screenTitle(this.id, title) };
    if (typeof change !== "function") {
      const checked = check(change);
      return store.sessions.update(this.id, { ...checked, ...(await screen(checked.title)) });
    }
    // Erased words are looked up before the transaction, which cannot wait.
    const { title } = change(await this.record());
    const screened = await screen(title);
    return store.sessions.update(this.id, (record: SessionRecord) => {
      const checked = check(change(record));
      return checked.title === title ? { ...checked, ...screened } : checked;
    });
  }

  /**
   * Rewinds to just after an entry: later entries leave the line but stay in the log, and so do the edits of the window
   * made since. With `keepsEdits`, edits that concern no later message go on, as after a regenerated reply.
   */
  async rewind(
    which: EntryRef,
    options: LineOptions & { readonly keepsEdits?: boolean } = {},
  ): Promise<Entry<LineBody>> {
    const { keepsEdits = false } = checkFields("options", options, { keepsEdits: "boolean?" });
    const change = { ...checkLineOptions(options), keepsEdits };
    return this.#lines.rewind(await this.#requirePlace(which), change);
  }

  /** Removes one or more entries from the line in one step; they stay in the log. `lines()` shows `reason`. */
  async remove(
    which: EntryRef | readonly EntryRef[],
    options: LineOptions & { readonly reason?: string } = {},
  ): Promise<Entry<LineBody>> {
    const { reason } = checkFields("options", options, { reason: "text?" });
    const change = { ...checkLineOptions(options), ...dropUndefined({ reason }) };
    const all: readonly EntryRef[] = Array.isArray(which) ? which : [which as EntryRef];
    if (all.length === 0) throw createArgumentError("entries", all, "at least one entry");
    return this.#lines.remove(await Promise.all(all.map((one) => this.#requirePlace(one))), change);
  }

  /** Replaces an entry and removes everything after it from the line. */
  async edit(which: EntryRef, message: MessageInput, options: LineOptions = {}): Promise<Entry<MessageBody>> {
    const change = checkLineOptions(options);
    return this.#lines.edit(await this.#requirePlace(which), message, change);
  }

  /** Replaces an entry and keeps everything after it. */
  async replace(
    which: EntryRef,
    message: MessageInput,
    options: LineOptions = {},
  ): Promise<Entry<MessageBody>> {
    const change = checkLineOptions(options);
    return this.#lines.replace(await this.#requirePlace(which), message, change);
  }

  /** Returns to a line of `lines()`, which undoes rewind, edit, replace and remove. */
  async choose(lineSeq: number, options: LineOptions = {}): Promise<Entry<LineBody>> {
    this.#lifetime.assertOpen();
    return this.#lines.choose(checkWholeNumber("lineSeq", lineSeq, 0), checkLineOptions(options));
  }

  /**
   * Sets the line to the given ranges, for importers that know the branches of a foreign log. Entries that leave the line
   * count as another branch, which recall still finds. `instead` is the line that the importer has set before: pins and
   * edits of others then stay, and so does the absence of entries that others have removed.
   */
  async setLine(
    ranges: readonly SeqRange[],
    reason: string,
    options: LineOptions & { readonly at?: number; readonly instead?: OwnLine } = {},
  ): Promise<Entry<LineBody>> {
    this.#lifetime.assertOpen();
    const { at, instead } = checkFields("options", options, { at: "number?", instead: "object?" });
    const change = { ...checkLineOptions(options), reason: checkKind("reason", reason, "text") };
    return this.#lines.set(ranges, change, { at, instead });
  }

  /** Opens the intake for records of a foreign source, creating it for this session if needed. */
  async intake(name: string): Promise<Intake> {
    this.#lifetime.assertOpen();
    return Intake.open(this.#log, this.id, name);
  }

  /**
   * Erases the content of entries from disk, including blobs without other references and overlays that may quote it,
   * in forks, too; the entries keep their places.
   */
  async redact(which: EntryRef | readonly EntryRef[], reason?: string): Promise<FreedCounts> {
    this.#lifetime.assertOpen();
    if (reason !== undefined) checkKind("reason", reason, "text");
    const all = Array.isArray(which) ? which : [which];
    const findQuotes = this.#findQuotes;
    return redactWithTraces(this.#log, this.id, this.#lines, all, { reason, findQuotes });
  }

  /** Lists the entries that `redact` would remove, and those with the same words that it would leave to their owners. */
  async previewRedact(which: EntryRef | readonly EntryRef[]): Promise<ErasurePlan> {
    this.#lifetime.assertOpen();
    const all = Array.isArray(which) ? which : [which];
    return previewErasure(this.#log, this.id, this.#lines, all, this.#findQuotes);
  }

  /** Creates a window for calls to a model; reuse it for the following calls. */
  window(options: SessionWindowOptions): SessionWindow {
    this.#lifetime.assertOpen();
    return this.#windows.createWindow(
      checkFields("options", options, { model: "text", memories: "text?", compaction: "object?" }),
    );
  }

  /**
   * Replaces older messages by a summary; undefined if nothing was added since the last one. Without a model, the
   * summary quotes the conversation. The messages stay in the log: `overlays.revert` and `expand` bring them back.
   */
  async compact(options: SessionCompactOptions = {}): Promise<CompactionResult | undefined> {
    this.#lifetime.assertOpen();
    checkCompactOptions(options);
    return this.#windows.compact(options);
  }

  /** Keeps an entry unchanged in the window; other content leaves first. */
  async pin(which: EntryRef): Promise<Entry<PinBody>> {
    return this.#appender.body({ kind: "pin", target: await this.#requirePlace(which), isPinned: true });
  }

  async unpin(which: EntryRef): Promise<Entry<PinBody>> {
    return this.#appender.body({ kind: "pin", target: await this.#requirePlace(which), isPinned: false });
  }

  /** Creates or opens a child session; its handle closes with this one. */
  async child(options: DescendantOptions = {}): Promise<Session> {
    this.#lifetime.assertOpen();
    return this.#family.child(options, this.#lifetime);
  }

  /**
   * Creates a session whose line begins with this one's, up to `at`; copies nothing. `keepsEdits` is that of `rewind`.
   */
  async fork(
    options: DescendantOptions & { readonly at?: EntryRef; readonly keepsEdits?: boolean } = {},
  ): Promise<Session> {
    this.#lifetime.assertOpen();
    const { keepsEdits = false } = checkFields("options", options, { keepsEdits: "boolean?" });
    const at = options.at === undefined ? undefined : await this.#requirePlace(options.at);
    return this.#family.fork(options, { at, keepsEdits }, this.#parentLifetime);
  }

  /** The session this one descends from; undefined if there is none. */
  async parent(): Promise<Session | undefined> {
    const { parent } = await this.record();
    return parent === undefined ? undefined : this.#family.open({ id: parent }, this.#parentLifetime);
  }

  /** Resolves when all appends and drafts so far are stored; call it before each model request. */
  async flush(): Promise<void> {
    this.#lifetime.assertOpen();
    const flushing: Promise<void>[] = [];
    for (const owned of this.#lifetime.owned()) if (owned instanceof Draft) flushing.push(owned.flush());
    await Promise.all(flushing);
    await this.#appender.flush();
  }

  /** Ends tails, drafts, pending edits and child handles, and waits for running appends. Idempotent. */
  async close(): Promise<void> {
    if (!this.#lifetime.isClosed) this.#closing.abort();
    await this.#appender.flush();
    try {
      await this.#lifetime.close();
    } finally {
      this.#parentLifetime.release(this);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #requirePlace(which: EntryRef): Promise<Place> {
    this.#lifetime.assertOpen();
    return requirePlace(this.#lines, this.#log.store.entries, which);
  }
}

/** Options of a change of the line. */
interface LineOptions {
  /**
   * Why entries leave the line. "taken-back" (default, except for `setLine`): recall no longer finds them. "trimmed": they
   * only left to save room, and recall finds them. "branched": they are on another branch, and recall finds them too, but
   * not automatic context.
   */
  readonly departure?: LineDeparture;
}

/** Returns the departure of the options, if they name one. */
function checkLineOptions(options: LineOptions): LineOptions {
  const { departure } = checkFields("options", options);
  return departure === undefined ? {} : { departure: checkDeparture(departure) };
}

const NAMES: Readonly<Record<Exclude<keyof SessionCompactOptions, "budgetTokens">, true>> = {
  model: true,
  fallback: true,
  parts: true,
  instructions: true,
  template: true,
  signal: true,
  dryRun: true,
  maxTokens: true,
  lastMessages: true,
  tries: true,
  deadlineMs: true,
  retries: true,
  mostShare: true,
};
const FIELDS = { instructions: "text?", signal: "signal?", dryRun: "boolean?" } as const;

/** Refuses unknown options of a compaction and values of a wrong kind. */
function checkCompactOptions(options: SessionCompactOptions): void {
  checkNames("options", checkFields("options", options, FIELDS), [...Object.keys(NAMES), "budgetTokens"]);
}

/** An abort controller for a signal that is rarely used: nothing is created, and nothing aborted, until it is. */
class LazyAbortController {
  #controller: AbortController | undefined;
  #isAborted = false;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
