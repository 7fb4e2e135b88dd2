import type { Group } from "./group.ts";
import { isSystem } from "./is-system.ts";
import type { PassContext, Proposal } from "./pass.ts";
import type { Slot } from "./slot.ts";
import { getWindowIndex } from "./window-index.ts";

/**
 * Collects the oldest stretches that can leave the window, each as the indexes of its slots plus the slots bound to
 * them by late results. Calls `isEnough` before adding each stretch and stops when it returns true. Protected slots
 * stay, with every slot bound to them; system messages and notes always stay.
 */
export function findOldestRemovable(
  slots: readonly Slot[],
  stretches: readonly Group[],
  kept: ReadonlySet<number>,
  isEnough: (leaving: number, next: number) => boolean,
): readonly (readonly number[])[] {
  const { bonds } = getWindowIndex(slots);
  const units: (readonly number[])[] = [];
  const gone = new Set<number>();
  for (const { from, to } of stretches) {
    const unit = new Set<number>();
    for (let index = from; index <= to; index++) {
      for (const tied of bonds.get(index) ?? [index]) if (!gone.has(tied)) unit.add(tied);
    }
    const indexes = [...unit].filter((index) => canLeave(slots[index] as Slot));
    if (indexes.length === 0) continue;
    const isTorn = indexes.some((index) => bonds.get(index)?.some((tied) => !canLeave(slots[tied] as Slot)));
    if (isTorn || indexes.some((index) => kept.has((slots[index] as Slot).seq))) continue;
    if (isEnough(gone.size, indexes.length)) break;
    units.push(indexes);
    for (const index of indexes) gone.add(index);
  }
  return units;
}

function canLeave(slot: Slot): boolean {
  return !slot.isNote && !isSystem(slot);
}

/** Proposes to hide slots, given by index. A slot whose call or result stays in the window stays too. */
export function proposeHiding(
  slots: readonly Slot[],
  indexes: Iterable<number>,
  reason: string,
  { session }: PassContext,
): readonly Proposal[] {
  const hidden = keepWhole(slots, indexes);
  const staying = new Set(slots.flatMap(({ seq }, index) => (hidden.has(index) ? [] : [seq])));
  const leaving = slots.filter(({ seq }, index) => hidden.has(index) && !staying.has(seq));
  if (leaving.length === 0) return [];
  const ranges = buildRanges(
    leaving.map(({ seq }) => seq),
    [...staying],
  ).map((range) => ({ session, ...range }));
  const freedTokens = leaving.reduce((total, { tokens }) => total + tokens, 0);
  return [{ edit: { type: "hide", ranges }, reason, freedTokens }];
}

function keepWhole(slots: readonly Slot[], indexes: Iterable<number>): ReadonlySet<number> {
  const wanted = new Set([...indexes].filter((index) => canLeave(slots[index] as Slot)));
  const { bonds } = getWindowIndex(slots);
  return new Set([...wanted].filter((index) => bonds.get(index)?.every((tied) => wanted.has(tied)) ?? true));
}

/** The fewest ranges that cover all of `seqs` and none of `others`. */
function buildRanges(
  seqs: readonly number[],
  others: readonly number[],
): readonly { readonly from: number; readonly to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  const barriers = [...others].sort((one, other) => one - other);
  let barrier = 0;
  for (const seq of [...seqs].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    while (barrier < barriers.length && (barriers[barrier] as number) < (last?.to ?? seq)) barrier++;
    if (last && (barriers[barrier] ?? Number.POSITIVE_INFINITY) > seq) last.to = seq;
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}
