/** Limits on the number of tries and the waits between them. */
export interface RetryLimits {
  /** Total number of calls, including the first. */
  readonly tries: number;
  /** Maximum total wait. */
  readonly mostWaitMs: number;
  /** Wait after the first failure; doubles with each try. */
  readonly firstDelayMs: number;
  /** Maximum wait of our own backoff; a provider may ask for longer. */
  readonly mostDelayMs: number;
}

export const retryLimits: RetryLimits = {
  tries: 3,
  mostWaitMs: 60_000,
  firstDelayMs: 1_000,
  mostDelayMs: 20_000,
};

/** A try that failed. */
interface FailedAttempt {
  /** 1 for the first try. */
  readonly attempt: number;
  readonly isRetryable: boolean;
  /** Wait that the provider asked for. */
  readonly retryAfterMs?: number;
  /** Total wait so far for this call. */
  readonly waitedMs: number;
  /** From 0 up to 1; spreads out callers that failed at the same moment. */
  readonly random: number;
}

/**
 * Milliseconds to wait before the next try, or undefined if there is none. Never less than the provider asks for: if
 * that exceeds the remaining wait, the call fails at once.
 */
export function computeRetryDelay(
  failed: FailedAttempt,
  limits: RetryLimits = retryLimits,
): number | undefined {
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
