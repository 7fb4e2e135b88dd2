import { runWithDeadline } from "../../base/deadline.ts";

/** Runs `work` with a timeout; undefined if it takes too long, fails, or the signal aborts. */
export async function runWithTimeout<Result>(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  return runWithDeadline({ limitMs, signal }, work).catch(() => undefined);
}
