import { type ErrorCode, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Timer } from "./timer.ts";

/** Transient store errors. */
const TRANSIENT_ERRORS: readonly ErrorCode[] = ["STORE_BUSY", "DISK_FULL", "STORE_IO"];
const MAX_DELAY_MS = 5_000;
/** Delay at which the caller is warned; shorter interruptions stay silent. */
const WARN_AT_MS = 800;

/** Dependencies of `retryStore`. */
export interface RetryStoreDeps {
  readonly timer: Timer;
  readonly onWarning: (warning: string) => void;
}

/** Retries a write after transient store errors until it succeeds or `stop` fires; warns once. */
export async function retryStore<T>(
  { timer, onWarning }: RetryStoreDeps,
  stop: AbortSignal,
  task: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!TRANSIENT_ERRORS.some((code) => isLonghaulError(error, code))) throw error;
      if (stop.aborted)
        throw new LonghaulError("CLOSED", "The supervisor of tasks was closed.", { cause: error });
      if (delayMs === WARN_AT_MS)
        onWarning(`Task ${task} waits until the store can be written to: ${toErrorMessage(error)}`);
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

/** The message of an error, even if it cannot be converted to a string. */
export function toErrorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "an error that cannot be put into words";
  }
}
