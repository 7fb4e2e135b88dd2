import type { Message } from "../../model/message.ts";
import type { Part } from "../../model/part.ts";
import {
  findRawCallId,
  findServerAnswerId,
  isCall,
  listAnsweredCallIds,
  listCallIds,
} from "../../model/tool-calls.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { pairResults } from "../placed-result.ts";
import type { Slot } from "../slot.ts";

const NOTICE: Part = { type: "text", text: "[Result of an earlier call]" };

/**
 * Converts results whose call has left the window to plain text: a result may arrive long after its call, and providers
 * refuse a result without its call. So do they with results of their own tools.
 */
export function withoutLostCalls(slots: readonly Slot[], tokensOf: TokenEstimator): readonly Slot[] {
  const lost = pairResults(slots).filter(({ placedCall: to }) => !to);
  const parts = new Set<Part>(lost.map(({ result }) => result));
  const changed = new Set(lost.map(({ slot }) => slot));
  const called = new Set<string>();
  for (const [slot, { message }] of slots.entries()) {
    for (const part of message.parts) {
      if (part.type !== "raw" && part.type !== "blob") continue;
      called.add(findRawCallId(part) ?? "");
      const answered = findServerAnswerId(part);
      if (answered === undefined || called.has(answered)) continue;
      parts.add(part);
      changed.add(slot);
    }
  }
  if (parts.size === 0) return slots;
  return slots.map((slot, index) => {
    if (!changed.has(index)) return slot;
    const message = convertToText(slot.message, parts);
    return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
  });
}

function convertToText(message: Message, lost: ReadonlySet<Part>): Message {
  const parts = message.parts.flatMap((part): readonly Part[] => {
    if (!lost.has(part)) return [part];
    return part.type === "tool-result" ? [NOTICE, ...part.output] : [NOTICE];
  });
  const hasResults = parts.some(({ type }) => type === "tool-result");
  return { ...message, parts, role: message.role === "tool" && !hasResults ? "user" : message.role };
}

/**
 * Converts calls whose recorded result has left the window to plain text: a result may arrive long after its call, in
 * its own group. Calls that were never answered stay unchanged.
 */
export function withoutLostResults(
  slots: readonly Slot[],
  isAnswered: (callId: string) => boolean,
  tokensOf: TokenEstimator,
): readonly Slot[] {
  const shown = new Set(slots.flatMap(({ message }) => listAnsweredCallIds(message)));
  const isLost = (callId: string) => isAnswered(callId) && !shown.has(callId);
  return slots.map((slot) => {
    if (!listCallIds(slot.message).some(isLost)) return slot;
    const parts = slot.message.parts.map((part): Part => {
      const callId = findRawCallId(part) ?? (isCall(part) ? part.callId : undefined);
      if (callId === undefined || !isLost(callId)) return part;
      const name =
        part.type === "tool-call"
          ? part.name
          : ((part.type === "blob" ? part.toolName : undefined) ?? "a tool");
      return { type: "text", text: `[Call of ${name}; its result has left the window]` };
    });
    const message = { ...slot.message, parts };
    return { ...slot, message, original: slot.original ?? slot.message, tokens: tokensOf(message) };
  });
}
