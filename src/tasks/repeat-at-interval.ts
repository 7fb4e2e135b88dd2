import type { Timer } from "./timer.ts";

/** Repeats work at an interval, never concurrently; returns a function that stops it. */
export function repeatAtInterval(
  timer: Timer,
  intervalMs: number,
  work: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
  firstMs = intervalMs,
): () => void {
  let cancel: (() => void) | undefined;
  let isOver = false;
  const next = (delayMs: number) => {
    if (isOver) return;
    cancel = timer.after(delayMs, () => {
      work()
        .catch(onFailure)
        .finally(() => next(intervalMs));
    });
  };
  next(firstMs);
  return () => {
    isOver = true;
    cancel?.();
  };
}
