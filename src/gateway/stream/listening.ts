import type { EventEmitter } from "node:events";

type Listener = Parameters<EventEmitter["on"]>[1];

/** Listeners that end together. */
export class Listening {
  readonly #undo: (() => void)[] = [];
  #isOver = false;

  /** Listens from now until the end. */
  on(emitter: EventEmitter, event: string, listener: Listener): void {
    if (this.#isOver) return;
    emitter.on(event, listener);
    this.#undo.push(() => emitter.off(event, listener));
  }

  /** The same for a signal. */
  onAbort(signal: AbortSignal, listener: () => void): void {
    if (this.#isOver) return;
    signal.addEventListener("abort", listener, { once: true });
    this.#undo.push(() => signal.removeEventListener("abort", listener));
  }

  /** Does something else at the end. */
  atEnd(work: () => void): void {
    this.#undo.push(work);
  }

  /** Idempotent. */
  end(): void {
    this.#isOver = true;
    for (const undo of this.#undo.splice(0)) undo();
  }
}
