import type { PlacedResult } from "./placed-result.ts";

/**
 * Maps each slot index to all slots bound to it by tool calls and results. A result may arrive long after its call, but
 * neither may leave the window without the other.
 */
export function findBonds(answers: readonly PlacedResult[]): ReadonlyMap<number, readonly number[]> {
  const bonds = new Map<number, number[]>();
  for (const { slot, placedCall: to } of answers) {
    if (!to || to.slot === slot) continue;
    const own = bonds.get(slot) ?? [slot];
    const other = bonds.get(to.slot) ?? [to.slot];
    if (own === other) continue;
    const [few, many] = own.length < other.length ? [own, other] : [other, own];
    for (const one of few) many.push(one);
    for (const index of many) bonds.set(index, many);
  }
  return bonds;
}
