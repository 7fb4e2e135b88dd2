/** Waits for a promise for at most `waitMs`; undefined if it takes longer or the signal aborts first. */
export async function waitAtMost<T>(
  waitMs: number,
  signal: AbortSignal | undefined,
  promise: Promise<T>,
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const giveUp = () => late.resolve(undefined);
  const timer = setTimeout(giveUp, waitMs);
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}
