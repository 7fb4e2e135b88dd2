import type { Slot } from "../slot.ts";

/** Tracks a provider's refusals of one request and the measures taken. */
export class Refusals {
  #overflows = 0;
  #rejections = 0;
  #refusedAt = Number.POSITIVE_INFINITY;
  #forcedTokens: number | undefined;
  #maxOutput: number | undefined;
  #overlays: readonly number[] = [];
  #inVain: number | undefined;

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
  isInVain(estimated: number): boolean {
    return this.#inVain !== undefined && estimated >= this.#inVain;
  }

  overflowed(place: number, forcedTokens: number): void {
    this.#overflows++;
    this.#refusedAt = place;
    this.#forcedTokens = forcedTokens;
  }

  outputLowered(place: number, tokens: number): void {
    this.#overflows++;
    this.#refusedAt = place;
    this.#maxOutput = tokens;
  }

  madeSmaller(overlay: number): void {
    this.#overlays = [...this.#overlays, overlay];
  }

  /** Records that all tries failed for a window of `estimated` tokens. */
  gaveUp(estimated: number): void {
    const inVain = Math.min(estimated, this.#inVain ?? estimated);
    this.answered();
    this.#inVain = inVain;
  }

  rejected(place: number): void {
    this.#rejections++;
    this.#refusedAt = place;
  }

  /** Resets after a reply that follows the refused position: that request has succeeded, and the next one is new. */
  seen(slots: readonly Slot[]): void {
    const last = slots.findLast(({ message, isNote }) => message.role === "assistant" && !isNote);
    if (last && last.seq > this.#refusedAt) this.answered();
  }

  answered(): void {
    this.#overflows = 0;
    this.#rejections = 0;
    this.#refusedAt = Number.POSITIVE_INFINITY;
    this.#forcedTokens = undefined;
    this.#maxOutput = undefined;
    this.#overlays = [];
    this.#inVain = undefined;
  }
}
