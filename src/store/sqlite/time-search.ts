import type { Head } from "../entry-store.ts";

/** Ranges up to this size are bisected, because interpolation no longer helps. */
const NEAR = 8;

/**
 * The last seq whose time is at or before `at`, 0 if none. Times never decrease with seq and mostly grow linearly, so
 * each round interpolates, then steps from the guess towards the target until it is passed. This takes about twelve
 * reads among a million entries; every round at least halves the range.
 */
export function searchByTime(at: number, head: Head, timeOf: (seq: number) => number): number {
  if (head.seq === 0) return 0;
  if (at >= head.at) return head.seq;
  let low = 1;
  let lowAt = timeOf(low);
  if (at < lowAt) return 0;
  let high = head.seq;
  let highAt = head.at;

  /** Reads an entry between low and high and moves one bound there; returns whether it moved low. */
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
    // Half a millisecond more, because the last of several entries with the same time is wanted.
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
