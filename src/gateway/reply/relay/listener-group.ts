import type { EventEmitter } from "node:events";

type Listener = Parameters<EventEmitter["on"]>[1];

/** A group of listeners that are removed together. */
export class ListenerGroup {
  readonly #undo: (() => void)[] = [];
  #isOver = false;

  /** Adds a listener until the end. */
  on(emitter: EventEmitter, event: string, listener: Listener): void {
    if (this.#isOver) return;
    emitter.on(event, listener);
    this.#undo.push(() => emitter.off(event, listener));
  }

  /** Adds an abort listener until the end. */
  onAbort(signal: AbortSignal, listener: () => void): void {
    if (this.#isOver) return;
    signal.addEventListener("abort", listener, { once: true });
    this.#undo.push(() => signal.removeEventListener("abort", listener));
  }

  /** Runs `work` at the end. */
  atEnd(work: () => void): void {
    this.#undo.push(work);
  }

  /** Removes all listeners. Idempotent. */
  end(): void {
    this.#isOver = true;
    for (const undo of this.#undo.splice(0)) undo();
  }
}
