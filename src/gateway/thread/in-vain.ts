import type { Asked } from "./asked.ts";

/** A request that is this much smaller than one that was refused is worth healing again. */
const SMALLER_SHARE = 0.75;

/** Remembers the smallest request of a thread that was refused as too long in the end, until one is answered. */
export class InVain {
  #refused: { readonly model: string; readonly bytes: number } | undefined;

  /** True if a request is no smaller than one that healing did not help. */
  covers({ said, frame }: Asked): boolean {
    const { model, bytes } = this.#refused ?? {};
    return bytes !== undefined && model === frame.model && said.cut.bytes.length > bytes * SMALLER_SHARE;
  }

  /** Notes a request that was refused although all had been tried. */
  note({ said, frame: { model } }: Asked): void {
    const known = this.#refused?.model === model ? this.#refused.bytes : Number.POSITIVE_INFINITY;
    this.#refused = { model, bytes: Math.min(known, said.cut.bytes.length) };
  }

  /** A request was answered: what comes next is another matter. */
  forget(): void {
    this.#refused = undefined;
  }
}
