import type { Message } from "../model/message.ts";
import { listAnsweredCallIds, listCallIds } from "../model/tool-calls.ts";
import { pairRawCalls } from "./placed-result.ts";
import type { Slot } from "./slot.ts";

/**
 * Slots that stay or leave together: a single message, or a message with tool calls and the results that answer them.
 */
export interface Group {
  /** Index of the first slot; `to` is the index of the last. */
  readonly from: number;
  readonly to: number;
}

/**
 * The groups of a window, in order. Roles need not alternate: a group ends when none of its calls is open. It reaches to
 * the answers of its raw calls: while a provider's own tool waits, others may be called and answered.
 */
export function groupSlots(slots: readonly Slot[]): readonly Group[] {
  const groups: Group[] = [];
  const rawEnds = new Map(pairRawCalls(slots).map(({ slot, callSlot }) => [callSlot, slot]));
  for (let from = 0; from < slots.length; ) {
    const open = new Set(listCallIds((slots[from] as Slot).message));
    let isReply = true;
    let to = from;
    let end = rawEnds.get(from) ?? from;
    while (
      to + 1 < slots.length &&
      (to < end || isPartOfGroup((slots[to + 1] as Slot).message, open, isReply))
    ) {
      to++;
      end = Math.max(end, rawEnds.get(to) ?? end);
      const { message } = slots[to] as Slot;
      const answered = listAnsweredCallIds(message);
      if (answered.length > 0) isReply = false;
      for (const callId of answered) open.delete(callId);
      for (const callId of listCallIds(message)) open.add(callId);
    }
    groups.push({ from, to });
    from = to + 1;
  }
  return groups;
}

/** A message belongs to the preceding group if it answers an open call or adds more calls to the same reply. */
function isPartOfGroup(message: Message, open: ReadonlySet<string>, isReply: boolean): boolean {
  if (open.size === 0) return false;
  if (listAnsweredCallIds(message).some((callId) => open.has(callId))) return true;
  return isReply && message.role === "assistant" && listCallIds(message).length > 0;
}
