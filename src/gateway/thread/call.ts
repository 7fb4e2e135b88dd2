import { compactOnCommand } from "../../conversation/compact-on-command.ts";
import type { Placed } from "../../conversation/conversation.ts";
import { ranServerTools } from "../../conversation/server-tools.ts";
import {
  type EntryId,
  type Fitted,
  isLonghaulError,
  type MessageInput,
  type Overflow,
  overflowOf,
  type ProviderFailure,
  parseEntryId,
} from "../../index.ts";
import type { ReplyReader } from "../api/api.ts";
import type { CutBody } from "../body/cut.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { violationsIn } from "../edits/check-rules.ts";
import type { Violation } from "../edits/violation.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import { type Asked, outputWithin, type Room } from "./asked.ts";
import { fitWhole } from "./fit-whole.ts";
import { fittedPieces, isUnchanged } from "./fitted-pieces.ts";
import { piecesFromLog, saysOwn } from "./from-log.ts";
import { elementsOf, type Piece } from "./outgoing.ts";
import { type AppendReply, type NameReply, Recorder } from "./recorder.ts";
import { type Sent, sentBefore } from "./sent-before.ts";
import { keyOf } from "./stored.ts";
import type { Thread } from "./thread.ts";
import { madeFor, type TakenWindow } from "./window-set.ts";
import { wordsOf } from "./words-of.ts";

/** Maximum number of repaired retries of one request, and of one that must first be rewritten from the log. */
const MOST_HEALED = 4;
const MOST_FROM_LOG = 3;
/** The placement of a window without messages of the client. */
const NOWHERE: Placed<WireMessage> = { byId: new Map(), last: undefined };
/** Error codes of a window that cannot be reduced any further. */
const IN_VAIN = ["WINDOW_OVERFLOW", "WINDOW_FLOOR", "WINDOW_STUCK"] as const;

/** One request of a thread, from its window to its recorded reply. */
export class Call {
  readonly asked: Asked;
  readonly thread: Thread;
  readonly #sent: Sent | undefined;
  #placed: Placed<WireMessage> | undefined;
  #taken: TakenWindow;
  #fitted: Fitted | undefined;
  #pieces: readonly Piece[] | undefined;
  #healed = 0;
  #violations: readonly Violation[] = [];
  #isAnswered = false;
  #isEnded = false;
  #isFromLog = false;
  #lead: readonly MessageInput[] = [];
  #named: Promise<void> | undefined;

  private constructor(thread: Thread, asked: Asked, placed?: Placed<WireMessage>, sent?: Sent) {
    this.thread = thread;
    this.asked = asked;
    this.#placed = placed;
    this.#sent = sent;
    if (sent?.fitted) {
      const { plan: _plan, page: _page, ...fitted } = sent.fitted;
      this.#fitted = fitted;
    }
    this.#pieces = sent?.pieces;
    this.#violations = sent?.violations ?? [];
    // A request that continues the provider's stored state is not fitted, and its usage says nothing about the log's
    // window.
    const isFitted = asked.policy !== "none" && !asked.chain && !sent;
    this.#taken = isFitted ? thread.windows.take(asked) : thread.windows.share(asked);
  }

  /**
   * Begins a request for which a thread was reserved: stores its new messages and fits its window. Runs in the thread's
   * turn, so that the fitted window contains exactly the messages just stored.
   */
  static begin(thread: Thread, asked: Asked): Promise<Call> {
    return thread.conversation.inTurn(() => Call.#begin(thread, asked));
  }

  static async #begin(thread: Thread, asked: Asked): Promise<Call> {
    const sent = await sentBefore(thread, asked);
    if (sent) {
      thread.asks(asked.said);
      return new Call(thread, asked, undefined, sent);
    }
    const call = new Call(thread, asked, await thread.take(asked));
    await asked.onTaken?.();
    if (asked.policy !== "none") {
      await call.#carryOutCommand();
      await call.#fit();
    }
    return call;
  }

  /** Carries out a `/compact` that a person typed; agents with such a command handle it themselves. */
  async #carryOutCommand(): Promise<void> {
    const { isDryRun, chain, said, signal } = this.asked;
    const { session, kind } = this.thread;
    const newest = said.messages.at(-1);
    const isOurs = kind === "main" && !isDryRun && !chain && this.thread.remindersIn(said) === 0;
    if (!isOurs || newest?.role !== "user") return;
    await compactOnCommand(session, { id: this.last, message: () => newest.input() }, { signal });
  }

  async #fit(): Promise<void> {
    const { signal, isDryRun, chain } = this.asked;
    try {
      if (chain) {
        const fitted = this.thread.isOurs && !isDryRun ? await this.#fitFromLog() : undefined;
        if (fitted) await this.#use(fitted);
      } else await this.#use(await this.#taken.window.fit({ signal, ...(isDryRun && { isDryRun }) }));
    } catch (error) {
      // A window that cannot be reduced is sent unchanged: the provider's own error is the best reply.
      if (!isLonghaulError(error, "WINDOW_FLOOR") && !isLonghaulError(error, "WINDOW_STUCK")) throw error;
    }
  }

  /** Remembers how the bytes of the request are kept, if they are, in case it is repeated. */
  kept(body: CutBody | undefined): void {
    const { thread, asked, last } = this;
    thread.kept(body);
    const isOwn = last !== undefined && parseEntryId(last).session === thread.session.id;
    const isWhole = isOwn && !asked.chain && !asked.plain && !asked.isDryRun;
    thread.sent = body && isWhole ? { body, last, made: madeFor(asked), ...this.#became } : undefined;
  }

  get #became(): Pick<Sent, "fitted" | "seenSeq" | "pieces" | "violations"> {
    const { seq = 0 } = this.last === undefined ? {} : parseEntryId(this.last);
    const { plan, page } = this.#fitted ?? {};
    const seenSeq = Math.max(seq, plan?.overlay ?? 0, page?.overlay ?? 0, this.#sent?.seenSeq ?? 0);
    return { fitted: this.#fitted, seenSeq, pieces: this.#pieces, violations: this.#violations };
  }

  /** The fitted window; undefined if there is none. */
  get fitted(): Fitted | undefined {
    return this.#fitted;
  }

  /** The elements to send; undefined if the body is sent unchanged. */
  get pieces(): readonly Piece[] | undefined {
    const { isDryRun, plain } = this.asked;
    if (isDryRun) return undefined;
    return isUnchanged(this.asked, this.#pieces) ? plain?.() : this.#pieces;
  }

  /** The last message of the request; the reply follows it. */
  get last(): EntryId | undefined {
    return this.#sent?.last ?? this.#placed?.last;
  }

  /**
   * Estimated tokens available for additions; undefined if none are allowed, because the size of the request is
   * unknown.
   */
  get roomTokens(): number | undefined {
    const { policy, chain } = this.asked;
    if (policy === "none" || (chain && !this.#isFromLog)) return Number.POSITIVE_INFINITY;
    return this.#violations.length > 0 ? undefined : this.#fitted?.roomTokens;
  }

  /** Reports the estimated tokens sent in addition to the fitted window. */
  sendsBesides(tokens: number): void {
    this.#taken.window.sendsBesides(tokens);
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
  async heals(failure: ProviderFailure, room: Room = this.asked.room): Promise<boolean> {
    const { policy, isDryRun, chain } = this.asked;
    if (policy === "none" || isDryRun || this.#healed >= (chain ? MOST_FROM_LOG : MOST_HEALED)) return false;
    if (overflowOf(failure) && this.thread.inVain.covers(this.asked)) return false;
    return this.thread.conversation.inTurn(async () => {
      try {
        if (this.#sent && !this.#placed) await this.#fitAnew();
        // Others may have appended meanwhile; the window to repair is the one that was sent.
        await this.thread.conversation.standBehind(this.last);
        const isFirst = chain !== undefined && !this.#isFromLog;
        const fitted = isFirst
          ? await this.#fitFromLog(failure, room)
          : await this.#taken.window.heal(failure);
        if (!fitted) return false;
        this.#healed++;
        await this.#use(fitted);
        const { sent } = this.thread;
        if (sent && sent.last === this.last) this.thread.sent = { ...sent, ...this.#became };
        return !chain || this.#isFromLog;
      } catch (error) {
        if (!IN_VAIN.some((code) => isLonghaulError(error, code))) throw error;
        this.thread.sent = undefined;
        return false;
      }
    });
  }

  /** An overflow error, without its numbers if they cannot apply to the request. */
  believed(overflow: Overflow): Overflow {
    return this.#taken.window.believed(overflow);
  }

  /** Maximum output tokens to ask for; undefined to keep the client's value. */
  get maxOutputTokens(): number | undefined {
    return this.#fitted?.maxOutputTokens ?? outputWithin(this.asked.room, this.#fitted);
  }

  /** Rules of the provider that an edit would have violated; such an edit is not sent. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  get healed(): number {
    return this.#healed;
  }

  /** A recorder that stores the reply while it is relayed. */
  recorder(reader: ReplyReader = this.asked.api.makeReader(), name?: NameReply): Recorder {
    return new Recorder(this.thread.session, reader, {
      prepare: (message) => this.thread.prepareStored(message),
      stored: (message) => this.thread.stored(message, canonicalKey(message)),
      append: (append, reader) => this.#append(append, reader, name),
      report: (reader) => this.#report(reader),
    });
  }

  /** Ends the request. Idempotent. */
  end(): void {
    this.#answered(false);
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#taken.giveBack();
  }

  async #append(append: AppendReply, reader: ReplyReader, name: NameReply | undefined): Promise<void> {
    const { conversation, session } = this.thread;
    const isWhole = reader.isComplete && !reader.failure;
    this.#answered(isWhole);
    if (isWhole) this.thread.called(reader.message());
    const appended = conversation.inTurn(async () => {
      const entry = await conversation.appendBehind(this.last, () => append(session));
      if (isWhole) await this.thread.replied(wordsOf(reader.message()));
      if (isWhole) await this.#learnKept();
      return entry?.id;
    });
    const { responseId } = reader;
    if (name && responseId !== undefined) this.#named = name(responseId, appended, reader.items?.() ?? []);
    await appended;
  }

  /** Learns from a complete reply how much of the conversation the provider stores. */
  async #learnKept(): Promise<void> {
    const { chain } = this.asked;
    if (!this.#isFromLog) this.thread.remembered(true);
    else if (chain?.isWhole === "perhaps") await this.thread.takeOver();
  }

  /** Stores and fits a repeated request like any other, so that it can be repaired. */
  async #fitAnew(): Promise<void> {
    this.#placed = await this.thread.take(this.asked);
    this.#taken = this.thread.windows.take(this.asked);
    await this.#fit();
  }

  /** Makes the request contain the whole conversation; undefined if that is impossible. */
  async #fitFromLog(failure?: ProviderFailure, room: Room = this.asked.room): Promise<Fitted | undefined> {
    const whole = await fitWhole(this.thread, { ...this.asked, room }, failure);
    if (!whole) return undefined;
    this.#taken.giveBack();
    this.#taken = whole.taken;
    this.#lead = whole.lead;
    this.#isFromLog = true;
    return whole.fitted;
  }

  async #report(reader: ReplyReader): Promise<void> {
    const { usage, responseId, model = this.asked.frame.model } = reader;
    const { conversation } = this.thread;
    await conversation.inTurn(async () => {
      const request = responseId === undefined ? {} : { request: responseId };
      const options = { model, ...request, ranServerTools: ranServerTools(reader.message()) };
      if (usage) conversation.appended([await this.#taken.window.report(usage, options)]);
      this.end();
    });
    await this.#named;
  }

  /** Marks the request as answered, so that the next one finds an idle thread. */
  #answered(isWhole: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.thread.ended(isWhole);
  }

  async #use(fitted: Fitted): Promise<void> {
    const { api, said } = this.asked;
    const { thread } = this;
    this.#fitted = fitted;
    thread.fitted(fitted.tokens);
    const placed = this.#placed ?? NOWHERE;
    if (!this.#isFromLog) {
      const { pieces, violations } = await fittedPieces(thread, this.asked, placed, fitted);
      this.#pieces = pieces;
      this.#violations = violations;
      return;
    }
    const source = { ...fitted, session: thread.session.id, placed, keyOf };
    this.#pieces = await piecesFromLog(api, { ...source, said, lead: this.#lead }, thread.bytes);
    this.#violations = violationsIn(api.name, elementsOf(said.cut, this.#pieces));
    // A request that would be refused again for another reason is not sent: the provider's first error is the better
    // reply.
    if (this.#violations.length > 0 || !saysOwn(said, this.#pieces)) this.#isFromLog = false;
  }
}
