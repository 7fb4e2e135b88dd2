/** The time of day of a moment, as `performance.now()` says it; finer than a clock, and in the order of what happened. */
export function timeAt(momentMs: number): number {
  return performance.timeOrigin + momentMs;
}
