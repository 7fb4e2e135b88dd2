import { type FSWatcher, watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Time that changes are collected before they are reported. */
const SETTLE_MS = 2_000;
/** Time between two reports where the file system tells of no changes. */
const BLIND_MS = 60_000;
/** Longest time without a report, for changes that the file system did not tell of. */
const IDLE_MS = 15 * 60_000;

/** Waits for changes below folders without looking at them. */
export class FolderWatch implements Disposable {
  readonly #watchers = new Map<string, FSWatcher>();
  #isBlind = false;
  #hasChanged = false;
  #wake: () => void = () => undefined;

  /** Also waits for changes below these folders. */
  follow(paths: readonly string[]): void {
    for (const path of paths) if (!this.#watchers.has(path)) this.#watch(path);
  }

  /** Resolves some time after a change, after `atMostMs`, or when the signal aborts. */
  async wait(signal: AbortSignal | undefined, atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const idleMs = Math.min(atMostMs, this.#isBlind ? BLIND_MS : IDLE_MS);
    if (!this.#hasChanged) {
      const over = new AbortController();
      const waking = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
      await Promise.race([waking, sleep(idleMs, undefined, { signal: either }).catch(() => undefined)]);
      over.abort();
    }
    if (this.#hasChanged) await sleep(SETTLE_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
    this.#hasChanged = false;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #watch(path: string): void {
    const onLoss = () => {
      this.#isBlind = true;
    };
    try {
      const watcher = watch(path, { recursive: true, persistent: false }, () => {
        this.#hasChanged = true;
        this.#wake();
      });
      this.#watchers.set(path, watcher.on("error", onLoss));
    } catch {
      // Too many watches, or a file system that has none: such folders are looked at regularly.
      onLoss();
    }
  }
}
