import type { Message, MessageInput } from "./message.ts";
import type { BlobPart, PartInput, ToolCallPart } from "./part.ts";

/** Most messages have neither calls nor results, and all are asked again and again. */
const NONE: string[] = [];

/** True for a tool call, also for one that was too large for the log. */
export function isCall(part: PartInput): part is ToolCallPart | BlobPart {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}

/** Ids of the tool calls of a message, in their order. */
export function callIdsOf({ parts = [] }: Pick<Message | MessageInput, "parts">): readonly string[] {
  let ids: string[] = NONE;
  for (const part of parts)
    if (isCall(part) && part.callId !== undefined) ids = ids === NONE ? [part.callId] : [...ids, part.callId];
  return ids;
}

/** Ids of the calls that a message answers. */
export function answeredBy({ parts = [] }: Pick<Message | MessageInput, "parts">): readonly string[] {
  let ids: string[] = NONE;
  for (const part of parts)
    if (part.type === "tool-result") ids = ids === NONE ? [part.callId] : [...ids, part.callId];
  return ids;
}
