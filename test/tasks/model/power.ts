import type { Store } from "../../../src/log/store/store.ts";
import { type ErrorCode, LonghaulError } from "../../../src/model/errors.ts";

/** The power of a simulated process: when off, its store never responds again; when asleep, it responds later. */
export class Power {
  isOn = true;
  #awake: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #fault: { calls: number; readonly code: ErrorCode; readonly isDone: boolean } | undefined;
  /** Whether its store has ever failed. */
  hasFailed = false;
  #fuse: { calls: number; readonly isBefore: boolean } | undefined;

  get isRunning(): boolean {
    return this.isOn && !this.#awake;
  }

  /** Turns off after `calls` more calls to the store: before or after the last one is executed. */
  cutAfter(calls: number, isBefore: boolean): void {
    this.#fuse = { calls, isBefore };
    if (calls === 0) this.isOn = false;
  }

  /** Makes the next calls to the store fail; with `isDone` they are executed anyway. */
  failNext(calls: number, code: ErrorCode, isDone: boolean): void {
    this.#fault = { calls, code, isDone };
    this.hasFailed = true;
  }

  sleep(): void {
    if (this.#awake) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awake = promise;
    this.#wake = resolve;
  }

  wake(): void {
    this.#awake = undefined;
    this.#wake();
  }

  /** The store as this process sees it. */
  connect(store: Store): Store {
    const wrap = <Part extends object>(part: Part): Part =>
      new Proxy(part, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function"
            ? (...args: unknown[]) => this.#call(() => value.apply(target, args))
            : value;
        },
      });
    return {
      ...store,
      sessions: wrap(store.sessions),
      entries: wrap(store.entries),
      leases: wrap(store.leases),
      tasks: wrap(store.tasks),
      onCommit: (listener) => store.onCommit(() => this.#tell(listener)),
    } as Store;
  }

  /** A sleeping process is notified of commits when it wakes. */
  #tell(listener: () => void): void {
    if (this.#awake) void this.#awake.then(() => this.isOn && listener());
    else if (this.isOn) listener();
  }

  async #call(work: () => unknown): Promise<unknown> {
    if (this.#awake) await this.#awake;
    const fuse = this.#fuse;
    if (fuse && --fuse.calls <= 0 && fuse.isBefore) this.isOn = false;
    if (!this.isOn) return new Promise(() => undefined);
    const fault = this.#fault && this.#fault.calls-- > 0 ? this.#fault : undefined;
    if (fault && !fault.isDone) throw new LonghaulError(fault.code, "The store failed.");
    const result = await work();
    if (fault) throw new LonghaulError(fault.code, "The store failed when it was done.");
    if (fuse && fuse.calls <= 0) this.isOn = false;
    if (this.#awake) await this.#awake;
    return this.isOn ? result : new Promise(() => undefined);
  }
}
