import type { Slot } from "../slot.ts";

/** What was done about refusals of one request by its provider. */
export class Refusals {
  #overflows = 0;
  #rejections = 0;
  #refusedAt = Number.POSITIVE_INFINITY;
  #forcedTokens: number | undefined;
  #maxOutput: number | undefined;
  #overlays: readonly number[] = [];
  #inVain: number | undefined;

  /** How often the window was made smaller because it had been too large. */
  get overflows(): number {
    return this.#overflows;
  }

  /** True if a block was replaced already: a second rejection is not for us to guess at. */
  get isRejected(): boolean {
    return this.#rejections > 0;
  }

  /** Estimated tokens that the window is forced to. */
  get forcedTokens(): number | undefined {
    return this.#forcedTokens;
  }

  /** The output that the next try may ask for, once it was lowered. */
  get maxOutput(): number | undefined {
    return this.#maxOutput;
  }

  /** Overlays that have made the window smaller, the oldest first. */
  get overlays(): readonly number[] {
    return this.#overlays;
  }

  /** True if a window of no more estimated tokens was refused although all had been tried. */
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

  /** All has been tried, down to a window of so many estimated tokens. */
  gaveUp(estimated: number): void {
    const inVain = Math.min(estimated, this.#inVain ?? estimated);
    this.answered();
    this.#inVain = inVain;
  }

  rejected(place: number): void {
    this.#rejections++;
    this.#refusedAt = place;
  }

  /** A reply behind the place that was refused: the request has gone through, and the next one is another. */
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
