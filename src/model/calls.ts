import { checkFields } from "./arguments.ts";
import type { Message, MessageInput } from "./message.ts";
import type { BlobPart, PartInput, ToolCallPart } from "./part.ts";
import { rawAnswerId, rawCallId } from "./raw-calls.ts";

/** Most messages have neither calls nor results, and all are asked again and again. */
const NONE: string[] = [];

/** True for a tool call, also for one that was too large for the log. */
export function isCall(part: PartInput): part is ToolCallPart | BlobPart {
  return part.type === "tool-call" || (part.type === "blob" && part.of === "tool-call");
}

/** Ids of the calls of a message, in their order, also of those that only its format knows. */
export function callIdsOf(message: Pick<Message | MessageInput, "parts">): readonly string[] {
  const { parts = [] } = checkFields("message", message, { parts: "array?" });
  let ids: string[] = NONE;
  for (const part of parts) {
    const id = isCall(part) ? part.callId : rawCallId(part);
    if (id === undefined) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}

/** Ids of the calls that a message answers. */
export function answeredBy({ parts = [] }: Pick<Message | MessageInput, "parts">): readonly string[] {
  let ids: string[] = NONE;
  for (const part of parts) {
    const id = part.type === "tool-result" ? part.callId : rawAnswerId(part);
    if (id === undefined) continue;
    if (ids === NONE) ids = [id];
    else ids.push(id);
  }
  return ids;
}
