/** A range of whole numbers, both ends included. */
export type NumberRange = readonly [from: number, to: number];

/** Sorts ranges and joins those that touch or overlap. */
export function joinRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const joined: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((one, other) => one[0] - other[0])) {
    const last = joined.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else if (from <= to) joined.push([from, to]);
  }
  return joined;
}

/** The numbers of some ranges that are in none of the others. Both lists are joined and in order, and so is the result. */
export function subtractRanges(
  ranges: readonly NumberRange[],
  others: readonly NumberRange[],
): readonly NumberRange[] {
  const left: NumberRange[] = [];
  let next = 0;
  for (const [from, to] of ranges) {
    let start = from;
    while (next < others.length && (others[next] as NumberRange)[1] < from) next++;
    for (let index = next; index < others.length && start <= to; index++) {
      const [first, last] = others[index] as NumberRange;
      if (first > to) break;
      if (start < first) left.push([start, first - 1]);
      start = Math.max(start, last + 1);
    }
    if (start <= to) left.push([start, to]);
  }
  return left;
}

/** True if a number is in one of the ranges, which are joined and in order. */
export function isInRanges(ranges: readonly NumberRange[], number: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [from, to] = ranges[middle] as NumberRange;
    if (number < from) high = middle;
    else if (number > to) low = middle + 1;
    else return true;
  }
  return false;
}
