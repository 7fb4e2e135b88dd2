/**
 * Runs work under a deadline. Rejects when the deadline passes or the signal fires, even if the work ignores its
 * signal.
 */
export async function withDeadline<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { signal: over.signal });
  });
  const timer = setTimeout(
    () => stop.abort(new Error(`No summary within ${Math.ceil(limitMs / 1_000)} s.`)),
    Math.min(limitMs, 2 ** 31 - 1),
  );
  const pass = () => stop.abort(signal?.reason);
  if (signal?.aborted) pass();
  else signal?.addEventListener("abort", pass, { signal: over.signal });
  try {
    const working = work(stop.signal);
    working.catch(() => undefined);
    return await Promise.race([working, stopped]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
