/** The wall-clock time of a `performance.now()` value; finer than Date.now() and monotonic. */
export function toWallClock(momentMs: number): number {
  return performance.timeOrigin + momentMs;
}
