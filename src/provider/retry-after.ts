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
