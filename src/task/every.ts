import type { Timer } from "./timer.ts";

/** Does something again and again, never twice at a time; returns the function that ends it. */
export function every(
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
