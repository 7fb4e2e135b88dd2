import type { Slot } from "../../slot.ts";

/** What the user said, the first time and lately, as it was said: what has left a window can return from here. */
export class Users {
  readonly #most: number;
  readonly #slots: Slot[] = [];
  #tokens = 0;

  /** Keeps the first one, the latest one and, of those before it, as many tokens as given. */
  constructor(mostTokens: number) {
    this.#most = mostTokens;
  }

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  add(slot: Slot): void {
    this.#slots.push(slot);
    this.#tokens += slot.tokens;
    while (this.#slots.length > 2 && this.#tokens > this.#most) {
      const [gone] = this.#slots.splice(1, 1);
      this.#tokens -= gone?.tokens ?? 0;
    }
  }
}
