import { objectOf, textOf } from "../../../formats/content/fields.ts";
import { NO_RESULT } from "../../../formats/content/marks.ts";
import { messageOfChat } from "../../../formats/content/openai-chat-message.ts";
import type { MessageInput } from "../../../index.ts";
import type { JsonObject, SaidMessage } from "../api.ts";
import { unmarkedElement } from "../cache-marks.ts";
import { decodeEach } from "../decode-each.ts";

/** The name of the format, for raw parts and meta. */
export const NAME = "openai-chat";

/** Decodes the messages of a request, one per element. */
export function decode(elements: readonly JsonObject[]): readonly SaidMessage[] {
  return decodeEach(elements, messageOf);
}

/** Decodes one message. Calls in the legacy field "function_call" have no id and are answered by name. */
export function messageOf(marked: JsonObject): MessageInput {
  const element = unmarkedElement(marked);
  const functionCall = `function-${String(objectOf(element.function_call)?.name ?? element.name ?? "")}`;
  const message = messageOfChat(element, functionCall);
  if (message) return message;
  // The client sends this text as a result, so it answers a call, regardless of its author.
  const callId = textOf(element.tool_call_id) ?? functionCall;
  return { role: "tool", parts: [{ type: "tool-result", callId, output: NO_RESULT }] };
}

/** True for an instruction. */
export function isLead({ role }: JsonObject): boolean {
  return role === "system" || role === "developer";
}
