/** Source of timeouts; injected so that tests can control time. */
export interface Timer {
  /**
   * Calls `ring` once after `delayMs`; returns a function that cancels it. Only `keepsAlive` keeps the process alive.
   */
  after(delayMs: number, ring: () => void, options?: { readonly keepsAlive?: boolean }): () => void;
}

/** Maximum delay of a Node timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Timers of the system. */
export const systemTimer: Timer = {
  after(delayMs, ring, { keepsAlive = false } = {}) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      timer = setTimeout(
        () => (leftMs > MAX_DELAY_MS ? wait(leftMs - MAX_DELAY_MS) : ring()),
        Math.min(Math.max(leftMs, 0), MAX_DELAY_MS),
      );
      if (!keepsAlive) timer.unref();
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Result of work under a deadline. */
type DeadlineResult<T> =
  | { readonly type: "done"; readonly value: T }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "late" };

/**
 * Runs work under a deadline; never rejects. When the deadline passes or `stop` fires, the work's signal fires and the
 * result is "late", even if the work ignores its signal.
 */
export function runWithDeadline<T>(
  timer: Timer,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T> | T,
  stop?: AbortSignal,
): Promise<DeadlineResult<T>> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (result: DeadlineResult<T>) => {
      cancel();
      stop?.removeEventListener("abort", late);
      resolve(result);
    };
    const late = () => {
      over.abort(new Error(`Not done within ${limitMs} ms.`));
      end({ type: "late" });
    };
    // Keep the process alive while a caller awaits the result.
    const cancel = timer.after(limitMs, late, { keepsAlive: true });
    stop?.addEventListener("abort", late);
    if (stop?.aborted) return late();
    try {
      Promise.resolve(work(over.signal)).then(
        (value) => end({ type: "done", value }),
        (error) => end({ type: "failed", error }),
      );
    } catch (error) {
      end({ type: "failed", error });
    }
  });
}
