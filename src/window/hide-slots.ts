import { answersOf } from "./answer.ts";
import type { PassContext, Proposal } from "./pass.ts";
import type { Slot } from "./slot.ts";

/**
 * Proposes to hide slots, given by index. One that would be torn from a call or result that stays, stays as well; so do
 * notes, which stand for what has already left.
 */
export function proposeHiding(
  slots: readonly Slot[],
  indexes: Iterable<number>,
  reason: string,
  { session }: PassContext,
): readonly Proposal[] {
  const hidden = wholeOnly(slots, indexes);
  const staying = new Set(slots.flatMap(({ seq }, index) => (hidden.has(index) ? [] : [seq])));
  const leaving = slots.filter(({ seq }, index) => hidden.has(index) && !staying.has(seq));
  if (leaving.length === 0) return [];
  const ranges = rangesOf(
    leaving.map(({ seq }) => seq),
    [...staying],
  ).map((range) => ({ session, ...range }));
  const freedTokens = leaving.reduce((total, { tokens }) => total + tokens, 0);
  return [{ edit: { type: "hide", ranges }, reason, freedTokens }];
}

function wholeOnly(slots: readonly Slot[], indexes: Iterable<number>): ReadonlySet<number> {
  const hidden = new Set([...indexes].filter((index) => !slots[index]?.isNote));
  const ties = answersOf(slots).flatMap(({ slot, to }) => (to ? [[slot, to.slot] as const] : []));
  for (let isTorn = true; isTorn; ) {
    isTorn = false;
    for (const [one, other] of ties) {
      if (hidden.has(one) === hidden.has(other)) continue;
      hidden.delete(one);
      hidden.delete(other);
      isTorn = true;
    }
  }
  return hidden;
}

/** The fewest ranges that hold all of some seqs and none of the others. */
function rangesOf(
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
