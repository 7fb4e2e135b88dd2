import type { Head } from "../entry-store.ts";

/** Interpolation gets this many tries before plain bisection takes over, so that uneven times cost no more than log n. */
const INTERPOLATIONS = 6;

/**
 * The last seq whose time is at or before `at`, 0 if there is none. Times never decrease with seq, and mostly grow
 * evenly, so guessing by proportion finds the place in a few probes.
 */
export function searchByTime(at: number, head: Head, timeOf: (seq: number) => number): number {
  if (head.seq === 0) return 0;
  if (at >= head.at) return head.seq;
  let low = 1;
  let lowAt = timeOf(low);
  if (at < lowAt) return 0;
  let high = head.seq;
  let highAt = head.at;
  // Invariant: timeOf(low) <= at < timeOf(high).
  for (let probe = 0; high - low > 1; probe++) {
    const share = probe < INTERPOLATIONS ? (at - lowAt) / (highAt - lowAt) : 0.5;
    const guess = Math.min(Math.max(low + Math.floor((high - low) * share), low + 1), high - 1);
    const guessAt = timeOf(guess);
    if (guessAt <= at) {
      low = guess;
      lowAt = guessAt;
    } else {
      high = guess;
      highAt = guessAt;
    }
  }
  return low;
}
