import type { Script } from "./answer.ts";
import type { Asked } from "./asked.ts";

/**
 * Counts the results of a turn for a model that remembers its actions: if an edited request shows fewer results than
 * before, one more has arrived.
 */
export function resultCounter(): NonNullable<Script["countResults"]> {
  const most = new Map<number, number>();
  const counted = new WeakMap<Asked, number>();
  return (asked, turn, shown) => {
    const known = counted.get(asked);
    if (known !== undefined) return known;
    const before = most.get(turn) ?? 0;
    const count = shown < before ? before + 1 : shown;
    most.set(turn, count);
    counted.set(asked, count);
    return count;
  };
}
