/** A session whose last entry is dated this far ahead of the clock was written under a wrong clock. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** The time of an entry. Times never decrease, unless the last entry was dated by a clock that ran more than a day ahead. */
export function chooseEntryTime(at: number, lastAt: number, now: () => number): number {
  if (at >= lastAt) return at;
  return lastAt > now() + MAX_AHEAD_MS ? at : lastAt;
}
