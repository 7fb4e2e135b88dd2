import { groupsOf } from "../group.ts";
import type { Slot } from "../slot.ts";
import { type EditContext, requestTokens } from "./edit-policy.ts";

/** What is never dropped at the beginning: the first message of the user, or that and the first reply. */
export type Head = "message" | "pair";

/**
 * Drops a share of the messages that follow the head: the oldest ones, in whole groups, and an even number where the
 * groups allow it. At least one group leaves; the head and the last group stay.
 */
export function dropOldest(slots: readonly Slot[], share: number, head: Head): readonly Slot[] {
  const groups = groupsOf(slots);
  const fixed = new Set([groups.findIndex(({ from }) => slots[from]?.message.role === "user")]);
  if (head === "pair") fixed.add(groups.findIndex(({ from }) => slots[from]?.message.role === "assistant"));
  const headSize = groups.reduce(
    (sum, { from, to }, index) => sum + (fixed.has(index) ? to - from + 1 : 0),
    0,
  );
  const goal = Math.floor(((slots.length - headSize) * share) / 2) * 2;

  const leaving = new Set<number>();
  let even = 0;
  for (const [index, { from, to }] of groups.slice(0, -1).entries()) {
    if (fixed.has(index)) continue;
    if (leaving.size > 0 && leaving.size + to - from + 1 > goal) break;
    for (let at = from; at <= to; at++) leaving.add(at);
    if (leaving.size % 2 === 0) even = leaving.size;
  }
  const dropped = new Set([...leaving].slice(0, even || leaving.size));
  return dropped.size === 0 ? slots : slots.filter((_, index) => !dropped.has(index));
}

/** Drops half again and again while the window is over its budget and there is something to drop. */
export function halveUntilItFits(slots: readonly Slot[], head: Head, context: EditContext): readonly Slot[] {
  let window = slots;
  while (requestTokens(window, context) > context.budget.tokens) {
    const next = dropOldest(window, 0.5, head);
    if (next === window) break;
    window = next;
  }
  return window;
}
