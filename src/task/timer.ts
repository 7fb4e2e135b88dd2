/** Where waiting comes from; passed in so that tests can decide how time goes by. */
export interface Timer {
  /** Calls `ring` once after a while; returns the function that prevents it. A process lives on for it only if asked to. */
  after(delayMs: number, ring: () => void, options?: { readonly keepsAlive?: boolean }): () => void;
}

/** Longest that Node can wait in one go. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The computer's timers. */
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
