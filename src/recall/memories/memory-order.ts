/** A memory's place in the order: the highest rank is the first. */
export interface RankedMemory {
  readonly seq: number;
  /** The seq, unless the memory was moved. */
  readonly rank: number;
}

/** Below this relative distance two ranks may become equal. */
const MIN_STEP = 2 ** -48;

/** Sorts memories from the first to the last. */
export function sortByRank(memories: readonly RankedMemory[]): readonly RankedMemory[] {
  return memories.toSorted((one, other) => other.rank - one.rank || other.seq - one.seq);
}

/**
 * The new ranks that put a memory at an index of the order without it. Usually that is one rank between two neighbors;
 * where they have no room for it, neighbors are spread out too. `top` is above every rank in use.
 */
export function planMove(
  others: readonly RankedMemory[],
  seq: number,
  index: number,
  top: number,
): readonly RankedMemory[] {
  const moved = { seq, rank: Number.NaN };
  const line = [...others.slice(0, index), moved, ...others.slice(index)];
  for (let reach = 1; ; reach *= 2) {
    const first = Math.max(0, index - reach + 1);
    const last = Math.min(line.length - 1, index + reach - 1);
    const high = line[first - 1]?.rank ?? top;
    const low = line[last + 1]?.rank ?? 0;
    const count = last - first + 1;
    const step = (high - low) / (count + 1);
    const isWhole = first === 0 && last === line.length - 1;
    if (step > high * MIN_STEP || isWhole)
      return line.slice(first, last + 1).map((one, at) => ({ seq: one.seq, rank: high - step * (at + 1) }));
  }
}
