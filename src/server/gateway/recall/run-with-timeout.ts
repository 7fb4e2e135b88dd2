import { runWithTimeLimit } from "../../../model/base/time-limit.ts";

/** Runs `work` with a timeout; undefined if it takes too long, fails, or the signal aborts. */
export async function runWithTimeout<Result>(
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  return runWithTimeLimit({ limitMs, signal }, work).catch(() => undefined);
}
