/** Lines of a file, both ends included, counted from 1; `to` may be infinite. Negative ones count from the end. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** Tells whether one stretch of a file shows all that another shows; no range is the whole file. */
export function covers(range: LineRange | undefined, other: LineRange | undefined): boolean {
  if (!range) return true;
  return other !== undefined && range.from <= other.from && range.to >= other.to;
}
