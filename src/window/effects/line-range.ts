/** Lines of a file, counted from 1, both ends included. `to` may be infinite; negative numbers count from the end. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** True if one range of a file includes another; undefined means the whole file. */
export function isCovering(range: LineRange | undefined, other: LineRange | undefined): boolean {
  if (!range) return true;
  return other !== undefined && range.from <= other.from && range.to >= other.to;
}
