import { type ErrorCode, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Timer } from "./timer.ts";
import { wordsOf } from "./words.ts";

/** Troubles of a store that pass. */
const PASSING: readonly ErrorCode[] = ["STORE_BUSY", "DISK_FULL", "STORE_IO"];
const MAX_DELAY_MS = 5_000;
/** When whoever is concerned hears of it: a trouble that is over by then is none. */
const TOLD_AT_MS = 800;

/** What waiting for the store needs. */
export interface StoringParts {
  readonly timer: Timer;
  readonly onWarning: (warning: string) => void;
}

/**
 * Repeats a write that failed for a reason that passes, for as long as it takes or until `stop` fires; says once what it
 * waits for.
 */
export async function untilStored<T>(
  { timer, onWarning }: StoringParts,
  stop: AbortSignal,
  task: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!PASSING.some((code) => isLonghaulError(error, code))) throw error;
      if (stop.aborted)
        throw new LonghaulError("CLOSED", "The supervisor of tasks was closed.", { cause: error });
      if (delayMs === TOLD_AT_MS)
        onWarning(`Task ${task} waits until the store can be written to: ${wordsOf(error)}`);
    }
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        stop.removeEventListener("abort", end);
        resolve();
      };
      const cancel = timer.after(delayMs, end, { keepsAlive: true });
      stop.addEventListener("abort", end);
    });
  }
}
