import { checkFields } from "./argument-checks.ts";
import type { Message, MessageInput } from "./message.ts";
import type { BlobPart, PartInput, ToolCallPart } from "./part.ts";
import { findRawAnswerId, findRawCallId } from "./raw-calls.ts";

/** Shared, because most messages have neither calls nor results and these functions are called often. */
const NONE: string[] = [];

/** True for a tool call, including one that was too large for the log. */
export function isCall(part: PartInput): part is ToolCallPart | BlobPart {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}

/**
 * Ids of a message's calls in order, including raw calls of foreign formats; not those that a provider's own tool answers
 * within the message, because they bind no other message.
 */
export function listCallIds(message: Pick<Message | MessageInput, "parts">): readonly string[] {
  const { parts = [] } = checkFields("message", message, { parts: "array?" });
  return listIds(parts, false);
}

/** Ids of the calls that a message has results for, except raw calls in the same message. */
export function listAnsweredCallIds({
  parts = [],
}: Pick<Message | MessageInput, "parts">): readonly string[] {
  return listIds(parts, true);
}

function listIds(parts: readonly PartInput[], areAnswers: boolean): readonly string[] {
  const [findRaw, findPartner] = areAnswers
    ? [findRawAnswerId, findRawCallId]
    : [findRawCallId, findRawAnswerId];
  let ids: string[] = NONE;
  for (const part of parts) {
    const rawId = part.type === "raw" || part.type === "blob" ? findRaw(part) : undefined;
    let id = rawId;
    if (areAnswers && part.type === "tool-result") id = part.callId;
    else if (!areAnswers && isCall(part)) id ??= part.callId;
    if (id === undefined) continue;
    if (rawId !== undefined && parts.some((other) => findPartner(other) === rawId)) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}
