/** Runs `work` with a timeout; undefined if it takes too long, fails, or the signal aborts. */
export async function runWithTimeout<Result>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const { promise: given, resolve } = Promise.withResolvers<undefined>();
  const giveUp = () => resolve(undefined);
  late.addEventListener("abort", giveUp, { once: true });
  if (late.aborted) giveUp();
  try {
    return await Promise.race([work(late), given]);
  } catch {
    return undefined;
  } finally {
    late.removeEventListener("abort", giveUp);
  }
}
