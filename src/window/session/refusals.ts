import { findNewestQuestion } from "../protected-seqs.ts";
import type { Slot } from "../slot.ts";

/** The beginning of the reason of every edit that a refusal has caused; such edits are counted in the log. */
export const REFUSED_REASON = "the provider refused the request";

/** So many edits in a row under a cap show that the provider's limit is not one of size. */
const MAX_CAPPED_IN_ROW = 3;

/** A size that later windows of one turn stay below. */
interface TurnCap {
  readonly question: number;
  readonly tokens: number;
  readonly editedSeq: number;
  readonly editsInRow: number;
}

/** Tracks a provider's refusals of one request and the measures taken. */
export class Refusals {
  /** True once the provider has refused a request; until then nothing else is recorded here. */
  hasAny = false;
  #overflows = 0;
  #rejections = 0;
  #refusedAt = Number.POSITIVE_INFINITY;
  /** Estimated tokens that the window is forced to. */
  forcedTokens: number | undefined;
  #maxOutput: number | undefined;
  #overlays: readonly number[] = [];
  #givenUpTokens: number | undefined;
  #namedLimit: number | undefined;
  #turnCap: TurnCap | undefined;
  /** The smallest limit that the provider has named, once a window within it was accepted; infinite before. */
  provenLimit = Number.POSITIVE_INFINITY;

  /** Number of times the window was shrunk, or the output lowered, after an overflow. */
  get overflows(): number {
    return this.#overflows;
  }

  /** True if a block was already replaced; after a second rejection, the cause is a guess. */
  get isRejected(): boolean {
    return this.#rejections > 0;
  }

  /** Maximum output that the next try may ask for, once it was lowered. */
  get maxOutput(): number | undefined {
    return this.#maxOutput;
  }

  /** Overlays that have made the window smaller, oldest first. */
  get overlays(): readonly number[] {
    return this.#overlays;
  }

  /** True if a window of this size or smaller was refused after all tries were used up. */
  hasGivenUpOn(estimated: number): boolean {
    return this.#givenUpTokens !== undefined && estimated >= this.#givenUpTokens;
  }

  recordOverflow(place: number, forcedTokens: number, namedLimit: number | undefined): void {
    this.hasAny = true;
    this.#overflows++;
    this.#refusedAt = place;
    this.forcedTokens = forcedTokens;
    this.#namedLimit = namedLimit ?? this.#namedLimit;
  }

  /**
   * Records that a window of `tokens` estimated tokens was refused, in the turn of the message at `question`. A provider
   * that names no limit is likely to refuse that size again.
   */
  recordTurnCap(question: number, tokens: number): void {
    this.hasAny = true;
    if (this.#turnCap?.question === question && this.#turnCap.tokens === Number.POSITIVE_INFINITY) return;
    this.#turnCap = { question, tokens, editedSeq: 0, editsInRow: 0 };
  }

  /**
   * Records an edit under the cap. A cap that needs an edit at every call is lifted for the turn: an agent that sees none
   * of its steps would continue for ever, and the provider's own error has to end it.
   */
  recordCappedEdit(slots: readonly Slot[]): void {
    const cap = this.#turnCap;
    if (!cap) return;
    const isNewReply = ({ seq, message, isNote }: Slot) =>
      !isNote && message.role === "assistant" && seq > cap.editedSeq;
    const editsInRow = slots.filter(isNewReply).length <= 1 ? cap.editsInRow + 1 : 0;
    const tokens = editsInRow >= MAX_CAPPED_IN_ROW ? Number.POSITIVE_INFINITY : cap.tokens;
    this.#turnCap = { ...cap, tokens, editedSeq: slots.at(-1)?.seq ?? 0, editsInRow };
  }

  /** The estimated tokens that windows of the turn with these slots have to stay below; infinite if none was refused. */
  findTurnCap(slots: readonly Slot[]): number {
    const cap = this.#turnCap;
    const isItsTurn = cap && (slots[findNewestQuestion(slots)]?.seq ?? 0) === cap.question;
    return isItsTurn ? cap.tokens : Number.POSITIVE_INFINITY;
  }

  recordLoweredOutput(place: number, tokens: number): void {
    this.hasAny = true;
    this.#overflows++;
    this.#refusedAt = place;
    this.#maxOutput = tokens;
  }

  recordOverlay(overlay: number): void {
    this.hasAny = true;
    this.#overlays = [...this.#overlays, overlay];
  }

  /** Records that all tries failed for a window of `estimated` tokens. */
  recordGiveUp(estimated: number): void {
    this.hasAny = true;
    const inVain = Math.min(estimated, this.#givenUpTokens ?? estimated);
    this.#namedLimit = undefined;
    this.reset();
    this.#givenUpTokens = inVain;
  }

  recordRejection(place: number): void {
    this.hasAny = true;
    this.#rejections++;
    this.#refusedAt = place;
  }

  /** Resets after a reply that follows the refused position: that request has succeeded, and the next one is new. */
  observe(slots: readonly Slot[]): void {
    if (this.#refusedAt === Number.POSITIVE_INFINITY) return;
    const last = slots.findLast(({ message, isNote }) => message.role === "assistant" && !isNote);
    if (last && last.seq > this.#refusedAt) this.reset();
  }

  reset(): void {
    this.provenLimit = Math.min(this.provenLimit, this.#namedLimit ?? this.provenLimit);
    this.#namedLimit = undefined;
    this.#overflows = 0;
    this.#rejections = 0;
    this.#refusedAt = Number.POSITIVE_INFINITY;
    this.forcedTokens = undefined;
    this.#maxOutput = undefined;
    this.#overlays = [];
    this.#givenUpTokens = undefined;
  }
}
