import type { Role } from "../../model/message.ts";
import { answersOf } from "../answer.ts";
import { indexesOf } from "../exchange.ts";
import { type Group, groupsOf } from "../group.ts";
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
  const fixed = headOf(slots, groups, head);
  const goal = Math.floor(((slots.length - fixed.size) * share) / 2) * 2;
  const leaving: number[] = [];
  let even = 0;
  for (const group of groups.slice(0, -1)) {
    const indexes = indexesOf(group);
    if (indexes.some((index) => fixed.has(index))) continue;
    if (leaving.length > 0 && leaving.length + indexes.length > goal) break;
    leaving.push(...indexes);
    if (leaving.length % 2 === 0) even = leaving.length;
  }
  const dropped = new Set(leaving.slice(0, even || leaving.length));
  return dropped.size === 0 ? slots : slots.filter((_, index) => !dropped.has(index));
}

/** Indexes of the slots of the head, with results that came late to its calls. */
function headOf(slots: readonly Slot[], groups: readonly Group[], head: Head): ReadonlySet<number> {
  const firstOf = (role: Role) => groups.find(({ from }) => slots[from]?.message.role === role);
  const kept = [firstOf("user"), ...(head === "pair" ? [firstOf("assistant")] : [])];
  const fixed = new Set(kept.flatMap((group) => (group ? indexesOf(group) : [])));
  for (const { slot, to } of answersOf(slots)) if (to && fixed.has(to.slot)) fixed.add(slot);
  return fixed;
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
