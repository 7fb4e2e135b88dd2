import { pairRawCalls, pairResults } from "./placed-result.ts";
import type { Slot } from "./slot.ts";

/**
 * Maps each slot index to all slots bound to it by calls and results, including raw ones. A result may arrive long after
 * its call, but neither may leave the window without the other.
 */
export function findBonds(
  slots: readonly Slot[],
  answers = pairResults(slots),
): ReadonlyMap<number, readonly number[]> {
  const bonds = new Map<number, number[]>();
  const bind = (slot: number, to: number) => {
    const own = bonds.get(slot) ?? [slot];
    const other = bonds.get(to) ?? [to];
    if (own === other) return;
    const [few, many] = own.length < other.length ? [own, other] : [other, own];
    for (const one of few) many.push(one);
    for (const index of many) bonds.set(index, many);
  };
  for (const { slot, placedCall: to } of answers) if (to && to.slot !== slot) bind(slot, to.slot);
  for (const { slot, callSlot } of pairRawCalls(slots)) bind(slot, callSlot);
  return bonds;
}
