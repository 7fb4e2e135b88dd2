import type { EventEmitter } from "node:events";

type Listener = Parameters<EventEmitter["on"]>[1];

/** A group of listeners that are removed together. */
export class ListenerGroup {
  /** Listeners in one list instead of a closure for each, because every reply has about ten. */
  readonly #emitters: EventEmitter[] = [];
  readonly #events: string[] = [];
  readonly #listeners: Listener[] = [];
  readonly #undo: (() => void)[] = [];
  #isOver = false;

  /** Adds a listener until the end. */
  on(emitter: EventEmitter, event: string, listener: Listener): void {
    if (this.#isOver) return;
    emitter.on(event, listener);
    this.#emitters.push(emitter);
    this.#events.push(event);
    this.#listeners.push(listener);
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
    if (this.#isOver) return;
    this.#isOver = true;
    for (let at = 0; at < this.#emitters.length; at++)
      this.#emitters[at]?.off(this.#events[at] as string, this.#listeners[at] as Listener);
    for (const undo of this.#undo) undo();
  }
}
