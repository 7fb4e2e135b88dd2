/** How often a call is tried, and how long it waits in between. */
export interface RetryLimits {
  /** Calls in all, the first included. */
  readonly tries: number;
  /** Waiting in all. */
  readonly mostWaitMs: number;
  /** Wait after the first failure; doubles from try to try. */
  readonly firstDelayMs: number;
  /** Longest wait of our own; what the provider asks for may be longer. */
  readonly mostDelayMs: number;
}

export const retryLimits: RetryLimits = {
  tries: 3,
  mostWaitMs: 60_000,
  firstDelayMs: 1_000,
  mostDelayMs: 20_000,
};

/** A try that failed. */
export interface FailedTry {
  /** 1 for the first. */
  readonly attempt: number;
  readonly isRetryable: boolean;
  /** What the provider asked for. */
  readonly retryAfterMs?: number;
  /** Waited so far for this call. */
  readonly waitedMs: number;
  /** From 0 up to 1; spreads callers that failed at the same moment. */
  readonly random: number;
}

/**
 * Milliseconds to wait before the next try, or undefined when there is none. Never less than the provider asks for: when
 * that is more than may still be waited, the call fails at once instead of waiting in vain.
 */
export function retryDelay(failed: FailedTry, limits: RetryLimits = retryLimits): number | undefined {
  const leftMs = limits.mostWaitMs - failed.waitedMs;
  if (!failed.isRetryable || failed.attempt >= limits.tries || leftMs <= 0) return undefined;
  if (failed.retryAfterMs !== undefined) {
    if (failed.retryAfterMs > leftMs) return undefined;
    const spreadMs = Math.min(limits.firstDelayMs / 4, leftMs - failed.retryAfterMs);
    return Math.round(failed.retryAfterMs + spreadMs * failed.random);
  }
  const fullMs = Math.min(limits.mostDelayMs, limits.firstDelayMs * 2 ** (failed.attempt - 1));
  return Math.round(Math.min(leftMs, fullMs * (0.5 + failed.random / 2)));
}
