import type { Message } from "../model/message.ts";
import { listAnsweredCallIds, listCallIds } from "../model/tool-call-ids.ts";
import type { Slot } from "./slot.ts";

/**
 * Slots that stay or leave together: a single message, or a message with tool calls and the results that answer them.
 */
export interface Group {
  /** Index of the first slot; `to` is the index of the last. */
  readonly from: number;
  readonly to: number;
}

interface MessageIds {
  readonly calls: readonly string[];
  readonly answers: readonly string[];
}

/** Cache: messages are immutable, and every request groups all messages of its window. */
const known = new WeakMap<Message, MessageIds>();

function getIds(message: Message): MessageIds {
  let ids = known.get(message);
  if (!ids) {
    ids = { calls: listCallIds(message), answers: listAnsweredCallIds(message) };
    known.set(message, ids);
  }
  return ids;
}

/** The groups of a window, in order. Roles need not alternate: a group ends when none of its calls is open. */
export function groupSlots(slots: readonly Slot[]): readonly Group[] {
  const groups: Group[] = [];
  for (let from = 0; from < slots.length; ) {
    const open = new Set(getIds((slots[from] as Slot).message).calls);
    let isReply = true;
    let to = from;
    while (to + 1 < slots.length && isPartOfGroup((slots[to + 1] as Slot).message, open, isReply)) {
      to++;
      const { calls, answers } = getIds((slots[to] as Slot).message);
      if (answers.length > 0) isReply = false;
      for (const callId of answers) open.delete(callId);
      for (const callId of calls) open.add(callId);
    }
    groups.push({ from, to });
    from = to + 1;
  }
  return groups;
}

/** A message belongs to the preceding group if it answers an open call or adds more calls to the same reply. */
function isPartOfGroup(message: Message, open: ReadonlySet<string>, isReply: boolean): boolean {
  if (open.size === 0) return false;
  const { calls, answers } = getIds(message);
  if (answers.some((callId) => open.has(callId))) return true;
  return isReply && message.role === "assistant" && calls.length > 0;
}
