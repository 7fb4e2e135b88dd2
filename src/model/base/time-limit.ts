const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits for a promise for at most `waitMs`; undefined if it takes longer or the signal aborts first. */
export async function waitAtMost<T>(
  waitMs: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const giveUp = () => late.resolve(undefined);
  const timer = setTimeout(giveUp, Math.min(waitMs, MAX_TIMER_MS));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** The limit of some work. */
interface TimeLimit {
  readonly limitMs: number;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
  /** The error after `limitMs`; a default one names the limit. */
  readonly lateError?: () => Error;
}

/**
 * Runs work within a time limit: rejects as soon as the time is over or the signal fires, even if the work ignores its
 * signal.
 */
export async function runWithTimeLimit<T>(
  { limitMs, signal, lateError = () => new Error(`It took longer than ${limitMs} ms.`) }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  stop.signal.addEventListener("abort", () => stopped.reject(stop.signal.reason), { once: true });
  const pass = () => stop.abort(signal?.reason);
  const timer = setTimeout(() => stop.abort(lateError()), Math.min(limitMs, MAX_TIMER_MS));
  signal?.addEventListener("abort", pass, { once: true });
  if (signal?.aborted) pass();
  try {
    return await Promise.race([work(stop.signal), stopped.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", pass);
  }
}
