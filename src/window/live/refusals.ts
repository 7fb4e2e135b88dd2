import type { Slot } from "../slot.ts";

/** Tracks a provider's refusals of one request and the measures taken. */
export class Refusals {
  #overflows = 0;
  #rejections = 0;
  #refusedAt = Number.POSITIVE_INFINITY;
  #forcedTokens: number | undefined;
  #maxOutput: number | undefined;
  #overlays: readonly number[] = [];
  #givenUpTokens: number | undefined;

  /** Number of times the window was shrunk, or the output lowered, after an overflow. */
  get overflows(): number {
    return this.#overflows;
  }

  /** True if a block was already replaced; after a second rejection, the cause is a guess. */
  get isRejected(): boolean {
    return this.#rejections > 0;
  }

  /** Estimated tokens that the window is forced to. */
  get forcedTokens(): number | undefined {
    return this.#forcedTokens;
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

  recordOverflow(place: number, forcedTokens: number): void {
    this.#overflows++;
    this.#refusedAt = place;
    this.#forcedTokens = forcedTokens;
  }

  recordLoweredOutput(place: number, tokens: number): void {
    this.#overflows++;
    this.#refusedAt = place;
    this.#maxOutput = tokens;
  }

  recordOverlay(overlay: number): void {
    this.#overlays = [...this.#overlays, overlay];
  }

  /** Records that all tries failed for a window of `estimated` tokens. */
  recordGiveUp(estimated: number): void {
    const inVain = Math.min(estimated, this.#givenUpTokens ?? estimated);
    this.reset();
    this.#givenUpTokens = inVain;
  }

  recordRejection(place: number): void {
    this.#rejections++;
    this.#refusedAt = place;
  }

  /** Resets after a reply that follows the refused position: that request has succeeded, and the next one is new. */
  observe(slots: readonly Slot[]): void {
    const last = slots.findLast(({ message, isNote }) => message.role === "assistant" && !isNote);
    if (last && last.seq > this.#refusedAt) this.reset();
  }

  reset(): void {
    this.#overflows = 0;
    this.#rejections = 0;
    this.#refusedAt = Number.POSITIVE_INFINITY;
    this.#forcedTokens = undefined;
    this.#maxOutput = undefined;
    this.#overlays = [];
    this.#givenUpTokens = undefined;
  }
}
