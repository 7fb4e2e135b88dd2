import type { Bench } from "../../bench.ts";

/** Lengths of the sessions that several measurements share. */
export interface Sizes {
  /** Length from which memory growth is measured. */
  readonly start: number;
  /** Length of an early append; a quick run has no warm-up other than the messages before it. */
  readonly early: number;
  /** The length at which peers are compared. */
  readonly small: number;
  /** The length that must cost no more than the small one. */
  readonly large: number;
}

/** The lengths of a quick or a full run. */
export function sizesOf({ isQuick }: Bench): Sizes {
  return isQuick
    ? { start: 500, early: 10_000, small: 1_000, large: 50_000 }
    : { start: 1_000, early: 1_000, small: 100_000, large: 1_000_000 };
}

/** Formats a length for people. */
export function counted(count: number): string {
  return count.toLocaleString("en");
}
