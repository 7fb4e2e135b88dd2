/** A range of bytes; `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** True if a range of an earlier body equals the bytes at the range shifted by `by`. */
export function isSameRange(bytes: Buffer, earlier: Buffer, { from, to }: ByteRange, by: number): boolean {
  return to + by <= bytes.length && bytes.compare(earlier, from, to, from + by, to + by) === 0;
}

/** The same ranges in a body where their content starts `by` bytes later. */
export function shiftRanges(ranges: readonly ByteRange[], by: number): ByteRange[] {
  return by === 0 ? [...ranges] : ranges.map(({ from, to }) => ({ from: from + by, to: to + by }));
}
