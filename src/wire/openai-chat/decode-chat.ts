import type { MessageInput } from "../../model/message.ts";
import { decodeElements, removeElementMarks } from "../block-content.ts";
import { toObject, toText } from "../fields.ts";
import { NO_RESULT } from "../result-marks.ts";
import type { DecodedMessage, WireObject } from "../wire.ts";
import { decodeChatMessage } from "./openai-chat-message.ts";

/** The name of the format, for raw parts and meta. */
export const OPENAI_CHAT_NAME = "openai-chat";

/** Decodes the messages of a request, one per element. */
export function decodeChat(elements: readonly WireObject[]): readonly DecodedMessage[] {
  return decodeElements(elements, decodeChatElement);
}

/** Decodes one message. Calls in the legacy field "function_call" have no id and are answered by name. */
export function decodeChatElement(marked: WireObject): MessageInput {
  const element = removeElementMarks(marked);
  const functionCall = `function-${String(toObject(element.function_call)?.name ?? element.name ?? "")}`;
  const message = decodeChatMessage(element, functionCall);
  if (message) return message;
  // The client sends this text as a result, so it answers a call, regardless of its author.
  const callId = toText(element.tool_call_id) ?? functionCall;
  return { role: "tool", parts: [{ type: "tool-result", callId, output: NO_RESULT }] };
}

/** True for a message, as opposed to a request or response with messages. */
export function isChatMessage({ role, content, tool_calls, function_call }: WireObject): boolean {
  const hasContent = typeof content === "string" || content === null || Array.isArray(content);
  return (
    typeof role === "string" &&
    (hasContent || Array.isArray(tool_calls) || toObject(function_call) !== undefined)
  );
}

/** True for an instruction. */
export function isChatLead({ role }: WireObject): boolean {
  return role === "system" || role === "developer";
}
