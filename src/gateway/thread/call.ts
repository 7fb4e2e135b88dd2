import type { Placed } from "../../conversation/conversation.ts";
import {
  type Fitted,
  isLonghaulError,
  type MessageInput,
  type ProviderFailure,
  type SessionWindow,
} from "../../index.ts";
import type { ReplyReader } from "../api/api.ts";
import type { WireMessage } from "../body/wire-message.ts";
import { newViolations, violationsIn } from "../edits/check-rules.ts";
import { planOutgoing } from "../edits/render.ts";
import type { Violation } from "../edits/violation.ts";
import { canonicalKey } from "../identity/canonical-key.ts";
import type { Asked } from "./asked.ts";
import { movedMarkers } from "./moved-markers.ts";
import { elementsOf, outgoingPieces, type Piece } from "./outgoing.ts";
import { type AppendReply, Recorder } from "./recorder.ts";
import { keyOf } from "./stored.ts";
import type { Thread } from "./thread.ts";

/** How often one request is sent again; the window itself gives up sooner. */
const MOST_HEALED = 4;

/** One request of a thread, from what is sent to what came back. */
export class Call {
  readonly asked: Asked;
  readonly thread: Thread;
  readonly #placed: Placed<WireMessage>;
  readonly #taken: { readonly window: SessionWindow; readonly giveBack: () => void };
  #fitted: Fitted | undefined;
  #pieces: readonly Piece[] | undefined;
  #healed = 0;
  #violations: readonly Violation[] = [];
  #isAnswered = false;
  #isEnded = false;
  #isSpent = false;

  private constructor(thread: Thread, asked: Asked, placed: Placed<WireMessage>) {
    this.thread = thread;
    this.asked = asked;
    this.#placed = placed;
    this.#taken = thread.windows.take(asked);
  }

  /**
   * Begins a request for which a thread was reserved: stores what is new of the conversation and fits its window. One after
   * the other, for what is fitted must be what was just taken in.
   */
  static begin(thread: Thread, asked: Asked): Promise<Call> {
    return thread.conversation.inTurn(() => Call.#begin(thread, asked));
  }

  static async #begin(thread: Thread, asked: Asked): Promise<Call> {
    const call = new Call(thread, asked, await thread.take(asked));
    if (asked.policy === "none") return call;
    try {
      const { signal, isDryRun } = asked;
      await call.#use(await call.#taken.window.fit({ signal, ...(isDryRun && { isDryRun }) }));
    } catch (error) {
      // What cannot be cut goes out as it came: the provider's own words are the best answer then.
      if (!isLonghaulError(error, "WINDOW_FLOOR") && !isLonghaulError(error, "WINDOW_STUCK")) throw error;
    }
    return call;
  }

  /** What was fitted; undefined where nothing was. */
  get fitted(): Fitted | undefined {
    return this.#fitted;
  }

  /** The elements to be sent; undefined if the body goes out as it came. */
  get pieces(): readonly Piece[] | undefined {
    return this.asked.isDryRun || this.#isUnchanged ? undefined : this.#pieces;
  }

  /** True if the request was refused for a reason that another window may mend: that window is to be sent next. */
  async heals(failure: ProviderFailure): Promise<boolean> {
    const { policy, isDryRun } = this.asked;
    if (policy === "none" || isDryRun || this.#healed >= MOST_HEALED) return false;
    return this.thread.conversation.inTurn(async () => {
      try {
        // Others may have spoken meanwhile; what is healed is what was sent.
        await this.thread.conversation.standBehind(this.#placed.last);
        const fitted = await this.#taken.window.heal(failure);
        if (!fitted) return false;
        this.#healed++;
        await this.#use(fitted);
        return true;
      } catch (error) {
        if (!isLonghaulError(error, "WINDOW_OVERFLOW") && !isLonghaulError(error, "WINDOW_FLOOR"))
          throw error;
        this.#isSpent = true;
        return false;
      }
    });
  }

  /** Rules of the provider that an edit would have broken; it was left out then. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  get healed(): number {
    return this.#healed;
  }

  /** Writes the reply down while it passes. */
  recorder(reader: ReplyReader = this.asked.api.makeReader()): Recorder {
    return new Recorder(this.thread.session, reader, {
      stored: (message) => this.thread.stored(message, canonicalKey(message)),
      append: (append, reader) => this.#append(append, reader),
      report: (reader) => this.#report(reader),
    });
  }

  /** The request is over. Idempotent. */
  end(): void {
    this.#answered(false);
    if (this.#isEnded) return;
    this.#isEnded = true;
    // A window that was forced smaller in vain would be sent as small again, whatever is asked next.
    if (!this.#isSpent) this.#taken.giveBack();
  }

  #append(append: AppendReply, reader: ReplyReader): Promise<void> {
    const { conversation, session } = this.thread;
    const isWhole = reader.isComplete && !reader.failure;
    this.#answered(isWhole);
    return conversation.inTurn(async () => {
      await conversation.standBehind(this.#placed.last);
      const entry = await append(session);
      if (entry) conversation.appended([entry]);
      if (isWhole) await this.thread.replied(wordsOf(reader.message()));
    });
  }

  #report({ usage, responseId, model = this.asked.frame.model }: ReplyReader): Promise<void> {
    const { conversation } = this.thread;
    return conversation.inTurn(async () => {
      const request = responseId === undefined ? {} : { request: responseId };
      if (usage) conversation.appended([await this.#taken.window.report(usage, { model, ...request })]);
      this.end();
    });
  }

  /** Whoever comes next is to see a thread that waits for nobody. */
  #answered(isWhole: boolean): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.thread.ended(isWhole);
  }

  get #isUnchanged(): boolean {
    const [only, ...others] = this.#pieces ?? [];
    if (!only) return true;
    return others.length === 0 && "from" in only && only.to === this.asked.said.cut.elements.length;
  }

  async #use(fitted: Fitted): Promise<void> {
    const { api, said } = this.asked;
    const { thread } = this;
    this.#fitted = fitted;
    thread.fitted(fitted.tokens);
    const source = { ...fitted, session: thread.session.id, placed: this.#placed, keyOf };
    const tail = thread.tailOf(said).map(({ index }) => ({ type: "same", index }) as const);
    const outgoing = [...planOutgoing(source), ...tail];
    const pieces = await outgoingPieces(api, said, outgoing, thread.written, thread.base64Of);
    this.#pieces = api.name === "anthropic" ? movedMarkers(said.cut, pieces) : pieces;
    // A plan is looked at once, when it is made: what it makes of later requests is the same and more of it.
    if (fitted.plan && !this.#isUnchanged) this.#checkRules();
  }

  /** An edit that the provider would refuse is worse than none. */
  #checkRules(): void {
    const { api, said, isContinued } = this.asked;
    const after = elementsOf(said.cut, this.#pieces ?? []);
    const context = { isContinued };
    // Only of reasoning in Responses can it not be told from what goes out alone.
    if (api.name !== "openai-responses" && violationsIn(api.name, after, context).length === 0) return;
    const before = elementsOf(said.cut, [{ from: 0, to: said.cut.elements.length }]);
    this.#violations = newViolations(api.name, before, after, context);
    if (this.#violations.length > 0) this.#pieces = undefined;
  }
}

function wordsOf(message: MessageInput | undefined): string {
  const texts = message?.parts?.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return message?.text ?? texts?.join("\n") ?? "";
}
