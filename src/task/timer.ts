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
