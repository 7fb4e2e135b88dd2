import { type CallUsage, CallWindow, compactOnCommand } from "../../../kernel/calls/call-window.ts";
import type { Conversation, PlacedMessages } from "../../../kernel/calls/conversation.ts";
import type { UsageBody } from "../../../kernel/faces/log.ts";
import {
  computeReportCost,
  computeSavings,
  countDroppedThinking,
  detectOverflow,
  estimateText,
  type ModelFactsLookup,
  type Overflow,
  type ProviderFailure,
} from "../../../kernel/faces/window.ts";
import {
  type Entry,
  type EntryId,
  type FittedWindow,
  isLonghaulError,
  type MessageBody,
  type MessageInput,
  parseEntryId,
} from "../../../kernel/index.ts";
import type { ReplyReader } from "../../../wire/wire.ts";
import { readCacheRecord } from "../../cache/cache-record.ts";
import { computeMissDollars } from "../../cache/cache-report.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import { getMessageText } from "../identity/request-kind.ts";
import { listSummaryForms } from "../lookup/client-summaries.ts";
import type { Trace } from "../observe/trace.ts";
import { countTexts, findSentTexts } from "../outgoing/outgoing-pieces.ts";
import type { CutBody } from "../request/cut-body.ts";
import type { RequestMessage } from "../request/request-messages.ts";
import {
  buildWindowKey,
  type CallRequest,
  findRepeatedSend,
  limitOutput,
  type SeenBody,
  type SentOutcome,
  shareWindow,
  type TokenLimits,
} from "../thread/call-request.ts";
import { isHopeless, type Thread } from "../thread/thread.ts";
import { CALL_TRANSITIONS, CallContent, type CallEvent, type CallState } from "./call-content.ts";
import { fitLoggedConversation } from "./fit-logged-conversation.ts";
import type { ReplyRecorder } from "./reply-recorder.ts";

/** Maximum number of repaired retries of one request, and of one that must first be rewritten from the log. */
const MAX_REPAIRS = { client: 4, log: 3 };

/** One request of a thread, from its window to its recorded reply. */
export class ThreadCall {
  readonly request: CallRequest;
  readonly thread: Thread;
  /** The messages that it sends. */
  readonly content: CallContent;
  /** True if the gateway may change the window of the call. */
  readonly isEditable: boolean;
  readonly #window: CallWindow<RequestMessage>;
  #state: CallState = "open";
  /** The usage of the reply, once it is stored. */
  reported: UsageBody | undefined;
  /** The kept body of the request, whose results later requests reuse. */
  seen: SeenBody | undefined;
  /** Time before the request was sent. */
  overheadMs: number | undefined;
  /** Adds the diagnosis of the provider's cache to the usage of the reply. */
  describeCache: CallUsage["describe"];
  /** Adds to the reply what its thinking is bound to. */
  markReply: ((reply: MessageInput) => MessageInput) | undefined;

  private constructor(thread: Thread, callRequest: CallRequest, sent?: SentOutcome) {
    this.thread = thread;
    this.request = callRequest;
    this.content = new CallContent(thread, callRequest, sent);
    const { policy, chain, isDryRun } = callRequest;
    this.isEditable = policy !== "none" && !isDryRun;
    // A request that continues the provider's stored state is not fitted, and its usage says nothing about the log's
    // window.
    const isFitted = policy !== "none" && !chain && !sent;
    const { conversation, windows } = thread;
    const lease = isFitted ? windows.take(callRequest) : shareWindow(windows, callRequest);
    this.#window = new CallWindow(conversation, lease, chain ? MAX_REPAIRS.log : MAX_REPAIRS.client);
  }

  /**
   * Begins a request for which a thread was reserved: stores its new messages and fits its window. Runs in the thread's
   * turn, so that the fitted window contains exactly the messages just stored.
   */
  static begin(thread: Thread, callRequest: CallRequest): Promise<ThreadCall> {
    return thread.conversation.runInTurn(async () => {
      const sent = await findRepeatedSend(thread, callRequest);
      if (sent) {
        thread.progress.recordRequest(callRequest.messages);
        return new ThreadCall(thread, callRequest, sent);
      }
      const placed = await appendRequest(thread, callRequest);
      await thread.progress.recordWritten(placed.last);
      const call = new ThreadCall(thread, callRequest);
      call.content.useClient(placed);
      if (callRequest.onStored) await callRequest.onStored();
      if (callRequest.policy !== "none") {
        await carryOutCommand(thread, callRequest, call.content.last);
        if (placed.written) call.#window.window.takeWritten(placed.written);
        await call.#fit();
      }
      return call;
    });
  }

  async #fit(): Promise<void> {
    const { signal, isDryRun, chain } = this.request;
    try {
      if (chain) {
        const fitted = this.thread.marks.isOurs && !isDryRun ? await this.#fitFromLog() : undefined;
        if (fitted) await this.content.setWindow(fitted);
      } else {
        const options = { signal, ...(isDryRun && { dryRun: true }) };
        await this.content.setWindow(await this.#window.window.fit(options));
        const besides = this.request.context ? countTexts(this.sentContext.values()) : 0;
        // Context of messages that stay does too: taking it out would change what the provider has cached.
        if (besides > (this.roomTokens ?? 0))
          await this.content.setWindow(await this.#window.window.fit({ ...options, besides }));
      }
    } catch (error) {
      // A window that cannot be reduced is sent unchanged: the provider's own error is the best reply.
      if (!isLonghaulError(error, "WINDOW_FLOOR") && !isLonghaulError(error, "WINDOW_STUCK")) throw error;
    }
  }

  /** Records how the bytes of the request are kept, if they are, in case it is repeated. */
  recordSeenBody(body: CutBody | undefined): void {
    const { thread, request: callRequest, content } = this;
    const { last } = content;
    const isOwn = last !== undefined && parseEntryId(last).session === thread.session.id;
    const isWhole = isOwn && !callRequest.chain && !callRequest.buildPlainPieces && !callRequest.isDryRun;
    const outcome = isWhole
      ? { last, windowKey: buildWindowKey(callRequest), ...content.outcome }
      : undefined;
    this.seen = body && { body, outcome };
    thread.sent.seen = this.seen;
  }

  /** The recalled context of the messages that it sends, by index. */
  get sentContext(): ReadonlyMap<number, string> {
    const { messages, context = new Map() } = this.request;
    return findSentTexts(messages, this.content.pieces, context);
  }

  /** Estimated tokens available for additions; undefined if the size of the request is unknown. */
  get roomTokens(): number | undefined {
    const { policy, chain } = this.request;
    if (policy === "none" || (chain && !this.content.isFromLog)) return Number.POSITIVE_INFINITY;
    const { fitted, violations } = this.content;
    // An edit that breaks a rule is not sent: the client's messages take its room.
    const unsentTokens = fitted && violations.length > 0 ? fitted.uneditedTokens - fitted.tokens : 0;
    return fitted && fitted.roomTokens - unsentTokens;
  }

  /** Reports the estimated tokens sent in addition to the fitted window. */
  setExtraTokens(tokens: number): void {
    this.#window.window.sendsBesides(tokens);
  }

  /**
   * Handles a refused request; true if a different window may succeed and must be sent next. `limits` are those
   * known by now.
   */
  async repair(failure: ProviderFailure, limits: TokenLimits = this.request.limits): Promise<boolean> {
    const { policy, isDryRun } = this.request;
    if (policy === "none" || isDryRun || !this.#window.canHeal) return false;
    if (detectOverflow(failure) && this.thread.sent.hopeless.covers(this.request)) return false;
    return this.thread.conversation.runInTurn(async () => {
      try {
        if (this.content.source === "repeated") await this.#fitAgain();
        const isSendable = await this.#heal(failure, limits);
        const outcome = this.seen?.outcome;
        if (isSendable && outcome && this.seen) this.seen.outcome = { ...outcome, ...this.content.outcome };
        return isSendable;
      } catch (error) {
        if (!isHopeless(error)) throw error;
        if (this.seen) this.seen.outcome = undefined;
        return false;
      }
    });
  }

  /** Fits another window after a refusal; false if none would help, or if it lacks the client's messages. */
  async #heal(failure: ProviderFailure, limits: TokenLimits): Promise<boolean> {
    const { chain } = this.request;
    const isFirst = chain !== undefined && !this.content.isFromLog;
    const { conversation } = this.thread;
    if (!isFirst) await conversation.endLineAt(this.content.last);
    const fitFromLog = () =>
      fitOwnLine(conversation, this.content.last, async () => {
        const fitted = await this.#fitFromLog(failure, limits);
        if (fitted) await this.content.setWindow(fitted);
        return { fitted, isMoved: fitted && !this.content.isFromLog && this.content.violations.length === 0 };
      });
    const fitted = await this.#window.heal(failure, isFirst ? fitFromLog : undefined);
    if (fitted && !isFirst) await this.content.setWindow(fitted);
    return fitted !== undefined && (!chain || this.content.isFromLog);
  }

  /** An overflow error, without its numbers if they cannot apply to the request. */
  checkOverflow(overflow: Overflow): Overflow {
    return this.#window.window.checkOverflowCounts(overflow);
  }

  /** Maximum output tokens to ask for; undefined to keep the client's value. */
  get maxOutputTokens(): number | undefined {
    const { limits } = this.request;
    const { fitted } = this.content;
    return fitted?.maxOutputTokens ?? (limits.isOutputCounted ? limitOutput(limits, fitted) : undefined);
  }

  get healed(): number {
    return this.#window.healed;
  }

  /** A message of the reply in its stored form. */
  async toStored(message: MessageInput, isWhole: boolean): Promise<MessageInput> {
    const { messages } = this.thread;
    await messages.prepareStored([message]);
    const key = buildCanonicalKey(message);
    const { places, chain } = this.request;
    const plain = messages.toStored(message, key);
    const stored = this.markReply?.(plain) ?? plain;
    // A conversation whose last reply broke off is found like one that awaits its reply.
    if (!places || !isWhole) return stored;
    const own = places.listOfReply(key, chain !== undefined);
    const summary = this.thread.kind === "compaction" ? listSummaryForms(getMessageText(stored)) : [];
    return { ...stored, places: summary.length === 0 ? own : [...own, ...places.listOfSummary(summary)] };
  }

  /** Ends the request. Idempotent. */
  end(): void {
    this.#change("end", false);
  }

  /** Stores a reply after the message that it answers; at its end together with its usage. */
  async append(recorder: ReplyRecorder, isEnd: boolean): Promise<void> {
    const { isWhole, reader, hooks } = recorder;
    this.#change("answer", isWhole);
    // The reply may answer a request that could not be repaired before.
    if (isWhole) this.thread.sent.hopeless.refused = undefined;
    const appended = this.thread.conversation.runInTurn(() => this.#store(recorder, isEnd));
    const { responseId } = reader;
    const named = responseId !== undefined && hooks.name?.(responseId, appended, reader.items?.() ?? []);
    await appended;
    await named;
  }

  /**
   * Stores a reply after the message that it answers, at its end with its usage, and tells the thread about it; the id of
   * its entry if it is whole. Runs in the thread's turn.
   */
  async #store(recorder: ReplyRecorder, isEnd: boolean): Promise<EntryId | undefined> {
    const { isWhole, reader } = recorder;
    const reply = reader.message();
    const { conversation, marks, messages, progress } = this.thread;
    const { last, isFromLog } = this.content;
    // An incomplete reply is appended wherever the log ends.
    if (!isWhole) await conversation.endLineAt(last);
    const message = reply && (await this.toStored(reply, isWhole));
    const report = isEnd && isWhole ? this.#describeUsage(reader, reply) : undefined;
    const told = message && report && ({ kind: "usage", ...this.#window.buildReport(report) } as const);
    const entries = await conversation.appendAfter(last, (expectedHead) =>
      recorder.write(message, { expectedHead, usage: told }),
    );
    const [entry, usage] = entries;
    await progress.recordWritten(entry?.id);
    if (!isWhole) return undefined;
    await messages.recordReply(reply, message);
    // A complete reply shows how much of the conversation the provider stores.
    if (!isFromLog) {
      if (marks.meta.forgotten) await marks.set({ forgotten: 0 });
    } else if (this.request.chain?.isWhole === "perhaps") await marks.set({ isOurs: true });
    if (usage) {
      this.reported = usage as Entry<UsageBody>;
      const { policy, chain } = this.request;
      // Other calls share a window that is never fitted.
      if (policy !== "none" && !chain && this.content.source === "client")
        this.#window.window.takeWritten(entries as readonly Entry<MessageBody | UsageBody>[]);
      this.end();
    }
    return entry?.id;
  }

  /** The usage of a reply; undefined if the provider reports none. */
  #describeUsage(reader: ReplyReader, reply: MessageInput | undefined): CallUsage | undefined {
    const { overheadMs, describeCache: describe } = this;
    const { model: asked, recallTools } = this.request.frame;
    const { usage, responseId, model = asked, diagnosis, inputChanges } = reader;
    if (!usage) return undefined;
    const addedTokens = recallTools ? estimateText(JSON.stringify(recallTools)) : 0;
    const told = { request: responseId, reply, diagnosis, inputChanges };
    return { usage, model, ...told, addedTokens, overheadMs, describe };
  }

  /** Stores and fits a repeated request like any other, so that it can be repaired. */
  async #fitAgain(): Promise<void> {
    this.content.useClient(await appendRequest(this.thread, this.request));
    this.#window.replace(this.thread.windows.take(this.request));
    await this.#fit();
  }

  /** Makes the request contain the whole conversation; undefined if that is impossible. */
  async #fitFromLog(
    failure?: ProviderFailure,
    limits: TokenLimits = this.request.limits,
  ): Promise<FittedWindow | undefined> {
    const whole = await fitLoggedConversation(this.thread, { ...this.request, limits }, failure);
    if (!whole) return undefined;
    this.#window.replace(whole.lease);
    this.content.useLog(whole.lead);
    return whole.fitted;
  }

  /** Stores the usage that was not stored with the reply; the final step of a reply. */
  async report(reader: ReplyReader): Promise<void> {
    await this.thread.conversation.runInTurn(async () => {
      const report = this.#describeUsage(reader, reader.message());
      if (report) this.reported = await this.#window.report(report);
      this.end();
    });
  }

  /** Frees the thread for the next request once this one is answered, and the window once it has ended. */
  #change(event: CallEvent, isWhole: boolean): void {
    const { next, freesThread, freesWindow } = CALL_TRANSITIONS[this.#state][event];
    this.#state = next;
    if (freesThread) this.thread.progress.recordEnd(isWhole);
    if (freesWindow) this.#window.end();
  }
}

/** Carries out a `/compact` that a person typed; agents with such a command handle it themselves. */
async function carryOutCommand(
  thread: Thread,
  { isDryRun, chain, messages, signal }: CallRequest,
  last: EntryId | undefined,
): Promise<void> {
  const { session, kind } = thread;
  const newest = messages.list.at(-1);
  if (newest?.role !== "user" || kind !== "main" || isDryRun || chain) return;
  if (thread.messages.countReminders(messages) > 0) return;
  await compactOnCommand(session, last, newest, { signal });
}

/** A window, and whether it belongs to the line of another call. */
interface LineFit {
  readonly fitted: FittedWindow | undefined;
  readonly isMoved: boolean | undefined;
}

/** Maximum number of windows to fit while other processes change the line. */
const MAX_TRIES = 20;

/**
 * Fits the window of the line that ends with `last`. Repeats the fit while other calls move the line: those of this
 * process before it, those of other gateways on the same store at any time.
 */
async function fitOwnLine(
  conversation: Conversation<RequestMessage>,
  last: EntryId | undefined,
  fitLine: () => Promise<LineFit>,
): Promise<FittedWindow | undefined> {
  for (let tries = 1; ; tries++) {
    await conversation.endLineAt(last);
    const { fitted, isMoved } = await fitLine();
    if (!isMoved || tries === MAX_TRIES) return fitted;
  }
}

/** Stores the messages of a request, and records that its reply is pending. */
function appendRequest(thread: Thread, callRequest: CallRequest): Promise<PlacedMessages<RequestMessage>> {
  const { messages, chain } = callRequest;
  const { sent, progress } = thread;
  if (!chain) {
    const { like, same } = messages.cut;
    sent.encodedMessages.keepFirst(like !== undefined && like === sent.seen?.body ? same : 0);
    progress.recordRequest(messages);
  }
  return thread.messages.append(callRequest);
}

/** Records the sizes of a request without and with edits. A dry run sends the request without them. */
export function traceCall(trace: Trace, { content, request }: ThreadCall): void {
  const { fitted } = content;
  if (request.isDryRun) trace.isDryRun = true;
  if (!fitted) return;
  trace.tokensBefore = Math.round(fitted.uneditedTokens);
  trace.tokensAfter = Math.round(fitted.tokens);
  if (fitted.defect !== undefined) trace.defect = fitted.defect;
  if (fitted.plan) trace.isPlanned = true;
}

/** Records the reply, its cost, and the savings of edits. */
export function traceReply(
  trace: Trace,
  reader: ReplyReader,
  { reported }: Pick<ThreadCall, "reported">,
  factsOf: ModelFactsLookup,
): void {
  if (reader.usage) trace.usage = reader.usage;
  const dropped = countDroppedThinking(reader.inputChanges ?? []);
  if (dropped > 0) trace.droppedThinking = dropped;
  if (reported) {
    const spentDollars = computeReportCost(reported, factsOf);
    if (spentDollars !== undefined) trace.spentDollars = spentDollars;
    const savings = computeSavings(reported, factsOf);
    if (savings.requests > 0) trace.savings = savings;
    const record = readCacheRecord(reported);
    if (record) {
      const { state, cause, missedTokens } = record;
      const missDollars = missedTokens > 0 ? computeMissDollars(reported, missedTokens, factsOf) : undefined;
      trace.cache = { verdict: cause ?? state, missedTokens, missDollars };
    }
  }
  if (reader.model !== undefined) trace.responseModel = reader.model;
  if (reader.responseId !== undefined) trace.responseId = reader.responseId;
  if (reader.stopReason !== undefined) trace.stopReason = reader.stopReason;
}
