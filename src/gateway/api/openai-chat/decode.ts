import { objectOf, textOf } from "../../../formats/content/fields.ts";
import { NO_RESULT } from "../../../formats/content/marks.ts";
import { messageOfChat } from "../../../formats/content/openai-chat-message.ts";
import type { MessageInput } from "../../../index.ts";
import type { JsonObject, SaidMessage } from "../api.ts";
import { unmarkedElement } from "../cache-marks.ts";
import { decodeEach } from "../decode-each.ts";

/** The name of the format, for raw parts and meta. */
export const NAME = "openai-chat";

/** What the messages of a request say: each element is one. */
export function decode(elements: readonly JsonObject[]): readonly SaidMessage[] {
  return decodeEach(elements, messageOf);
}

/** One message as ours. Calls of the old field "function_call" have no id, and are answered by name. */
export function messageOf(marked: JsonObject): MessageInput {
  const element = unmarkedElement(marked);
  const functionCall = `function-${String(objectOf(element.function_call)?.name ?? element.name ?? "")}`;
  const message = messageOfChat(element, functionCall);
  if (message) return message;
  // A client that says so means it: whatever wrote it, it answers a call.
  const callId = textOf(element.tool_call_id) ?? functionCall;
  return { role: "tool", parts: [{ type: "tool-result", callId, output: NO_RESULT }] };
}

/** True for a message that instructs. */
export function isLead({ role }: JsonObject): boolean {
  return role === "system" || role === "developer";
}
