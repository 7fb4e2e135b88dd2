/** The parts of a response that may say how long to wait. */
interface RetryHint {
  /** Response headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  /** Milliseconds since 1970, for hints that name a date. */
  readonly now: number;
}

/** Google reports the delay in the body of the error. */
const delayInBody = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/;

/**
 * Milliseconds that the provider asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date, or Google's
 * `retryDelay`.
 */
export function parseRetryAfterMs({ headers = {}, body = "", now }: RetryHint): number | undefined {
  return (
    parseDelay(headers["retry-after-ms"], 1) ??
    parseDelay(headers["retry-after"], 1_000) ??
    parseDelayUntilDate(headers["retry-after"], now) ??
    parseDelay(delayInBody.exec(body)?.[1], 1_000)
  );
}

function parseDelay(text: string | undefined, unitMs: number): number | undefined {
  return text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text)
    ? Math.ceil(Number(text) * unitMs)
    : undefined;
}

function parseDelayUntilDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined || !/[a-z]/i.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** The parts of an error response that decide whether to retry. */
interface FailedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Errors for an account without funds, which no wait can fix. */
const emptyAccount = /insufficient_quota|billing_hard_limit_reached|credit balance is too low/i;

/** True for statuses that may be temporary: timeouts, conflicts, rate limits, overload, server errors. */
function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}

/** True if the same request may succeed later; `x-should-retry` overrides everything else. */
export function isRetryable({ status, headers, body }: FailedResponse): boolean {
  const wish = headers?.["x-should-retry"];
  if (wish === "true") return true;
  if (wish === "false") return false;
  return isRetryableStatus(status) && !emptyAccount.test(body ?? "");
}

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
