import type { Head } from "../entry-store.ts";

/** Within this many entries proportion says nothing any more; the rest is halved. */
const NEAR = 8;

/**
 * The last seq whose time is at or before `at`, 0 if there is none. Times never decrease with seq and mostly grow in
 * proportion, so each round guesses by proportion, then steps from the guess towards the goal until it is passed. That
 * finds the place in about twelve looks among a million entries; every round at least halves what is left.
 */
export function searchByTime(at: number, head: Head, timeOf: (seq: number) => number): number {
  if (head.seq === 0) return 0;
  if (at >= head.at) return head.seq;
  let low = 1;
  let lowAt = timeOf(low);
  if (at < lowAt) return 0;
  let high = head.seq;
  let highAt = head.at;

  /** Looks at an entry between low and high and moves one of them there; true if it was low. */
  const look = (seq: number): boolean => {
    const time = timeOf(seq);
    if (time <= at) {
      low = seq;
      lowAt = time;
      return true;
    }
    high = seq;
    highAt = time;
    return false;
  };

  while (high - low > NEAR) {
    const range = high - low;
    // Half a millisecond more, because of several entries of the same time the last is wanted.
    const share = (at + 0.5 - lowAt) / (highAt - lowAt);
    const guess = Math.min(Math.max(low + Math.floor(range * share), low + 1), high - 1);
    let step = Math.ceil(2 * Math.sqrt(range));
    if (look(guess)) while (low + step < high && look(low + step)) step *= 4;
    else while (high - step > low && !look(high - step)) step *= 4;
    if (high - low > range / 2) look((low + high) >>> 1);
  }
  while (high - low > 1) look((low + high) >>> 1);
  return low;
}
