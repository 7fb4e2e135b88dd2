import { compactOnCommand } from "../../conversation/compact-on-command.ts";
import type { PlacedMessages } from "../../conversation/conversation.ts";
import { hasRunServerTools } from "../../conversation/server-tools.ts";
import {
  detectOverflow,
  type EntryId,
  type FittedWindow,
  isLonghaulError,
  type MessageInput,
  type Overflow,
  type ProviderFailure,
  parseEntryId,
} from "../../index.ts";
import type { ReplyReader } from "../api/api.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { getMessageKey } from "../identity/message-key.ts";
import { findViolations } from "../outgoing/check-rules.ts";
import { listPieceElements } from "../outgoing/outgoing-pieces.ts";
import { buildPiecesFromLog, hasClientPieces } from "../outgoing/pieces-from-log.ts";
import type { Violation } from "../outgoing/violation.ts";
import type { CutBody } from "../request/cut-body.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import { type CallRequest, limitOutput, type TokenLimits } from "../thread/call-request.ts";
import { findRepeatedSend, type LastSentRequest } from "../thread/last-sent-request.ts";
import type { Thread } from "../thread/thread.ts";
import { buildWindowKey, type WindowLease } from "../thread/window-set.ts";
import { fitLoggedConversation } from "./fit-logged-conversation.ts";
import { buildFittedPieces, isWholeBody } from "./fitted-pieces.ts";
import { type AppendReply, type NameReply, ReplyRecorder } from "./reply-recorder.ts";
import { getReplyText } from "./reply-text.ts";

/** Maximum number of repaired retries of one request, and of one that must first be rewritten from the log. */
const MAX_REPAIRS = 4;
const MAX_LOG_REPAIRS = 3;
/** The placement of a window without messages of the client. */
const NO_PLACEMENT: PlacedMessages<RequestMessage> = { byId: new Map(), last: undefined };
/** Error codes of a window that cannot be reduced any further. */
const HOPELESS_CODES = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/** One request of a thread, from its window to its recorded reply. */
export class ThreadCall {
  readonly request: CallRequest;
  readonly thread: Thread;
  readonly #lastSent: LastSentRequest | undefined;
  #placed: PlacedMessages<RequestMessage> | undefined;
  #lease: WindowLease;
  #fitted: FittedWindow | undefined;
  #pieces: readonly OutgoingPiece[] | undefined;
  #healed = 0;
  #violations: readonly Violation[] = [];
  #isAnswered = false;
  #isEnded = false;
  #isFromLog = false;
  #lead: readonly MessageInput[] = [];
  #naming: Promise<void> | undefined;

  private constructor(
    thread: Thread,
    callRequest: CallRequest,
    placed?: PlacedMessages<RequestMessage>,
    sent?: LastSentRequest,
  ) {
    this.thread = thread;
    this.request = callRequest;
    this.#placed = placed;
    this.#lastSent = sent;
    if (sent?.fitted) {
      const { plan: _plan, page: _page, ...fitted } = sent.fitted;
      this.#fitted = fitted;
    }
    this.#pieces = sent?.pieces;
    this.#violations = sent?.violations ?? [];
    // A request that continues the provider's stored state is not fitted, and its usage says nothing about the log's
    // window.
    const isFitted = callRequest.policy !== "none" && !callRequest.chain && !sent;
    this.#lease = isFitted ? thread.windows.take(callRequest) : thread.windows.share(callRequest);
  }

  /**
   * Begins a request for which a thread was reserved: stores its new messages and fits its window. Runs in the thread's
   * turn, so that the fitted window contains exactly the messages just stored.
   */
  static begin(thread: Thread, callRequest: CallRequest): Promise<ThreadCall> {
    return thread.conversation.runInTurn(() => ThreadCall.#begin(thread, callRequest));
  }

  static async #begin(thread: Thread, callRequest: CallRequest): Promise<ThreadCall> {
    const sent = await findRepeatedSend(thread, callRequest);
    if (sent) {
      thread.recordRequest(callRequest.messages);
      return new ThreadCall(thread, callRequest, undefined, sent);
    }
    const call = new ThreadCall(thread, callRequest, await thread.appendRequest(callRequest));
    await callRequest.onStored?.();
    if (callRequest.policy !== "none") {
      await call.#carryOutCommand();
      await call.#fit();
    }
    return call;
  }

  /** Carries out a `/compact` that a person typed; agents with such a command handle it themselves. */
  async #carryOutCommand(): Promise<void> {
    const { isDryRun, chain, messages, signal } = this.request;
    const { session, kind } = this.thread;
    const newest = messages.list.at(-1);
    const isOurs = kind === "main" && !isDryRun && !chain && this.thread.countReminders(messages) === 0;
    if (!isOurs || newest?.role !== "user") return;
    await compactOnCommand(session, { id: this.last, message: () => newest.input() }, { signal });
  }

  async #fit(): Promise<void> {
    const { signal, isDryRun, chain } = this.request;
    try {
      if (chain) {
        const fitted = this.thread.isOurs && !isDryRun ? await this.#fitFromLog() : undefined;
        if (fitted) await this.#use(fitted);
      } else await this.#use(await this.#lease.window.fit({ signal, ...(isDryRun && { isDryRun }) }));
    } catch (error) {
      // A window that cannot be reduced is sent unchanged: the provider's own error is the best reply.
      if (!isLonghaulError(error, "WINDOW_FLOOR") && !isLonghaulError(error, "WINDOW_STUCK")) throw error;
    }
  }

  /** Remembers how the bytes of the request are kept, if they are, in case it is repeated. */
  recordKeptBody(body: CutBody | undefined): void {
    const { thread, request: callRequest, last } = this;
    thread.recordKeptBody(body);
    const isOwn = last !== undefined && parseEntryId(last).session === thread.session.id;
    const isWhole = isOwn && !callRequest.chain && !callRequest.buildPlainPieces && !callRequest.isDryRun;
    thread.lastSent =
      body && isWhole ? { body, last, windowKey: buildWindowKey(callRequest), ...this.#outcome } : undefined;
  }

  get #outcome(): Pick<LastSentRequest, "fitted" | "seenSeq" | "pieces" | "violations"> {
    const { seq = 0 } = this.last === undefined ? {} : parseEntryId(this.last);
    const { plan, page } = this.#fitted ?? {};
    const seenSeq = Math.max(seq, plan?.overlay ?? 0, page?.overlay ?? 0, this.#lastSent?.seenSeq ?? 0);
    return { fitted: this.#fitted, seenSeq, pieces: this.#pieces, violations: this.#violations };
  }

  /** The fitted window; undefined if there is none. */
  get fitted(): FittedWindow | undefined {
    return this.#fitted;
  }

  /** The elements to send; undefined if the body is sent unchanged. */
  get pieces(): readonly OutgoingPiece[] | undefined {
    const { isDryRun, buildPlainPieces: plain } = this.request;
    if (isDryRun) return undefined;
    return isWholeBody(this.request, this.#pieces) ? plain?.() : this.#pieces;
  }

  /** The last message of the request; the reply follows it. */
  get last(): EntryId | undefined {
    return this.#lastSent?.last ?? this.#placed?.last;
  }

  /**
   * Estimated tokens available for additions; undefined if none are allowed, because the size of the request is
   * unknown.
   */
  get roomTokens(): number | undefined {
    const { policy, chain } = this.request;
    if (policy === "none" || (chain && !this.#isFromLog)) return Number.POSITIVE_INFINITY;
    return this.#violations.length > 0 ? undefined : this.#fitted?.roomTokens;
  }

  /** Reports the estimated tokens sent in addition to the fitted window. */
  setExtraTokens(tokens: number): void {
    this.#lease.window.sendsBesides(tokens);
  }

  /**
   * True if the request was rewritten from the log to contain the whole conversation, though the client sent only new
   * messages.
   */
  get isFromLog(): boolean {
    return this.#isFromLog;
  }

  /**
   * Handles a refused request; true if a different window may succeed and must be sent next. `room` is the limits as
   * known by now.
   */
  async repair(failure: ProviderFailure, limits: TokenLimits = this.request.limits): Promise<boolean> {
    const { policy, isDryRun, chain } = this.request;
    if (policy === "none" || isDryRun || this.#healed >= (chain ? MAX_LOG_REPAIRS : MAX_REPAIRS))
      return false;
    if (detectOverflow(failure) && this.thread.hopeless.covers(this.request)) return false;
    return this.thread.conversation.runInTurn(async () => {
      try {
        if (this.#lastSent && !this.#placed) await this.#fitAgain();
        // Others may have appended meanwhile; the window to repair is the one that was sent.
        await this.thread.conversation.endLineAt(this.last);
        const isFirst = chain !== undefined && !this.#isFromLog;
        const fitted = isFirst
          ? await this.#fitFromLog(failure, limits)
          : await this.#lease.window.heal(failure);
        if (!fitted) return false;
        this.#healed++;
        await this.#use(fitted);
        const { lastSent: sent } = this.thread;
        if (sent && sent.last === this.last) this.thread.lastSent = { ...sent, ...this.#outcome };
        return !chain || this.#isFromLog;
      } catch (error) {
        if (!HOPELESS_CODES.some((code) => isLonghaulError(error, code))) throw error;
        this.thread.lastSent = undefined;
        return false;
      }
    });
  }

  /** An overflow error, without its numbers if they cannot apply to the request. */
  checkOverflow(overflow: Overflow): Overflow {
    return this.#lease.window.checkOverflowCounts(overflow);
  }

  /** Maximum output tokens to ask for; undefined to keep the client's value. */
  get maxOutputTokens(): number | undefined {
    return this.#fitted?.maxOutputTokens ?? limitOutput(this.request.limits, this.#fitted);
  }

  /** Rules of the provider that an edit would have violated; such an edit is not sent. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** True if the gateway may change the window of the call. */
  get isEditable(): boolean {
    return this.request.policy !== "none" && !this.request.isDryRun;
  }

  get healed(): number {
    return this.#healed;
  }

  /** A recorder that stores the reply while it is relayed. */
  createRecorder(reader: ReplyReader = this.request.api.createReader(), name?: NameReply): ReplyRecorder {
    return new ReplyRecorder(this.thread.session, reader, {
      prepare: (message) => this.thread.prepareStored(message),
      stored: (message) => this.thread.stored(message, buildCanonicalKey(message)),
      append: (append, reader) => this.#append(append, reader, name),
      report: (reader) => this.#report(reader),
    });
  }

  /** Ends the request. Idempotent. */
  end(): void {
    this.#markAnswered(false);
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#lease.release();
  }

  async #append(append: AppendReply, reader: ReplyReader, name: NameReply | undefined): Promise<void> {
    const { conversation, session } = this.thread;
    const isWhole = reader.isComplete && !reader.failure;
    this.#markAnswered(isWhole);
    if (isWhole) this.thread.recordReply(reader.message());
    const appended = conversation.runInTurn(async () => {
      const entry = await conversation.appendAfter(this.last, () => append(session));
      if (isWhole) await this.thread.reportReply(getReplyText(reader.message()));
      if (isWhole) await this.#learnStored();
      return entry?.id;
    });
    const { responseId } = reader;
    if (name && responseId !== undefined) this.#naming = name(responseId, appended, reader.items?.() ?? []);
    await appended;
  }

  /** Learns from a complete reply how much of the conversation the provider stores. */
  async #learnStored(): Promise<void> {
    const { chain } = this.request;
    if (!this.#isFromLog) this.thread.recordProviderMemory(true);
    else if (chain?.isWhole === "perhaps") await this.thread.markLogOnly();
  }

  /** Stores and fits a repeated request like any other, so that it can be repaired. */
  async #fitAgain(): Promise<void> {
    this.#placed = await this.thread.appendRequest(this.request);
    this.#lease = this.thread.windows.take(this.request);
    await this.#fit();
  }

  /** Makes the request contain the whole conversation; undefined if that is impossible. */
  async #fitFromLog(
    failure?: ProviderFailure,
    limits: TokenLimits = this.request.limits,
  ): Promise<FittedWindow | undefined> {
    const whole = await fitLoggedConversation(this.thread, { ...this.request, limits }, failure);
    if (!whole) return undefined;
    this.#lease.release();
    this.#lease = whole.lease;
    this.#lead = whole.lead;
    this.#isFromLog = true;
    return whole.fitted;
  }

  async #report(reader: ReplyReader): Promise<void> {
    const { usage, responseId, model = this.request.frame.model } = reader;
    const { conversation } = this.thread;
    await conversation.runInTurn(async () => {
      const request = responseId === undefined ? {} : { request: responseId };
      const options = { model, ...request, ranServerTools: hasRunServerTools(reader.message()) };
      if (usage) conversation.recordAppended([await this.#lease.window.report(usage, options)]);
      this.end();
    });
    await this.#naming;
  }

  /** Marks the request as answered, so that the next one finds an idle thread. */
  #markAnswered(isWhole: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.thread.recordEnd(isWhole);
  }

  async #use(fitted: FittedWindow): Promise<void> {
    const { api, messages } = this.request;
    const { thread } = this;
    this.#fitted = fitted;
    thread.recordWindowSize(fitted.tokens);
    const placed = this.#placed ?? NO_PLACEMENT;
    if (!this.#isFromLog) {
      const { pieces, violations } = await buildFittedPieces(thread, this.request, placed, fitted);
      this.#pieces = pieces;
      this.#violations = violations;
      return;
    }
    const source = { ...fitted, session: thread.session.id, placed, keyOf: getMessageKey };
    this.#pieces = await buildPiecesFromLog(
      api,
      { ...source, client: messages, lead: this.#lead },
      thread.loggedContent,
    );
    this.#violations = findViolations(api.name, listPieceElements(messages.cut, this.#pieces));
    // A request that would be refused again for another reason is not sent: the provider's first error is the better
    // reply.
    if (this.#violations.length > 0 || !hasClientPieces(messages, this.#pieces)) this.#isFromLog = false;
  }
}
