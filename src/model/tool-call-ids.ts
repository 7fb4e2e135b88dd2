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

/** Ids of a message's calls in order, including raw calls of foreign formats. */
export function listCallIds(message: Pick<Message | MessageInput, "parts">): readonly string[] {
  const { parts = [] } = checkFields("message", message, { parts: "array?" });
  let ids: string[] = NONE;
  for (const part of parts) {
    const id = isCall(part) ? part.callId : findRawCallId(part);
    if (id === undefined) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}

/** Ids of the calls that a message has results for. */
export function listAnsweredCallIds({
  parts = [],
}: Pick<Message | MessageInput, "parts">): readonly string[] {
  let ids: string[] = NONE;
  for (const part of parts) {
    const id = part.type === "tool-result" ? part.callId : findRawAnswerId(part);
    if (id === undefined) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}
