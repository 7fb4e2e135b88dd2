import type { Kernel } from "../../index.ts";

type IndexState = Awaited<ReturnType<Kernel["memory"]["state"]>>;

/** Minimum time between two measurements: each reads a row of every session. */
const MIN_INTERVAL_MS = 5_000;

/** The state of the index for /api/status, which programs ask for often. */
export class IndexProgress {
  readonly #kernel: Kernel;
  #measured: { readonly at: number; readonly state: Promise<IndexState | undefined> } | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Undefined if the store cannot be read. */
  read(): Promise<IndexState | undefined> {
    const now = Date.now();
    if (!this.#measured || now - this.#measured.at >= MIN_INTERVAL_MS)
      this.#measured = { at: now, state: this.#kernel.memory.state().catch(() => undefined) };
    return this.#measured.state;
  }
}
