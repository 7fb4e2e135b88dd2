import { type ByteRange, isSameRange } from "./byte-range.ts";

/** An earlier body with the ranges of its list's elements. */
interface EarlierBody {
  readonly bytes: Buffer;
  readonly listFrom: number | undefined;
  readonly elements: readonly ByteRange[];
}

/**
 * Number of leading elements that both lists share, byte for byte; a binary search, since comparing is cheap and
 * scanning is not.
 */
export function countSameElements(bytes: Buffer, from: number, like: EarlierBody): number {
  if (like.listFrom === undefined) return 0;
  const ends = like.elements;
  const origin = like.listFrom;
  const isSame = (count: number): boolean => {
    const last = ends[count - 1];
    if (!last) return true;
    const by = from - origin;
    // Differences are mostly in the last element.
    return (
      isSameRange(bytes, like.bytes, last, by) &&
      isSameRange(bytes, like.bytes, { from: origin, to: last.from }, by)
    );
  };
  let same = 0;
  let beyond = ends.length + 1;
  // Only the last few elements usually change; most bodies extend the previous one.
  for (const count of [ends.length, ends.length - 1, ends.length - 2, ends.length - 4]) {
    if (count <= same) break;
    if (isSame(count)) same = count;
    else beyond = count;
    if (same > 0) break;
  }
  while (beyond - same > 1) {
    const middle = (same + beyond) >> 1;
    if (isSame(middle)) same = middle;
    else beyond = middle;
  }
  return same;
}
