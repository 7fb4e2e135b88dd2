/** The longest wait for a quiet moment. */
const MAX_WAIT_MS = 1_000;

/** Waits until the page has nothing more urgent to do. */
export function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such callback.
    if (typeof requestIdleCallback === "function")
      requestIdleCallback(() => resolve(), { timeout: MAX_WAIT_MS });
    else setTimeout(resolve, 100);
  });
}
