import type { Part } from "../../model/part.ts";
import { findRawCallId } from "../../model/raw-calls.ts";
import { isCall, listAnsweredCallIds, listCallIds } from "../../model/tool-call-ids.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import type { Slot } from "../slot.ts";

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
