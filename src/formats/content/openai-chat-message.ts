import type { Json, MessageInput, PartInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Extras } from "./blocks.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "./fields.ts";
import { NO_RESULT, withoutErrorMark } from "./marks.ts";
import { argumentsOf, callOfChat, chatOutputOf, contentOfChat } from "./openai-chat-content.ts";
import { picturesOf, soundOf } from "./openai-chat-media-fields.ts";

const NAME = "openai-chat";

const KNOWN = [
  "role",
  "content",
  "id",
  "model",
  "usage",
  "timestamp",
  "tool_calls",
  "tool_call_id",
  "function_call",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "refusal",
];
/** Fields that only assistant messages have. */
const OF_MODEL = ["images", "audio"];

/** Converts a message; undefined for a placeholder result, which exists only because a request requires one. */
export function messageOfChat(message: JsonObject, functionCall: string): MessageInput | undefined {
  const { role } = message;
  if (role === "tool" || role === "function") return toolMessage(message, functionCall);
  const model = textOf(message.model);
  const reasoning = reasoningOf(message);
  const { parts, extras } = contentAndCalls(message, functionCall);
  const all: readonly PartInput[] = [...(reasoning ? [reasoning.part] : []), ...parts];
  const meta = {
    ...fieldsBesides(message, role === "assistant" ? [...KNOWN, ...OF_MODEL] : KNOWN),
    ...(role === "developer" && { role }),
    ...(reasoning && { reasoning: reasoning.field }),
    ...(extras && { extras: shifted(extras, reasoning ? 1 : 0) }),
  };
  return {
    role: role === "system" || role === "developer" ? "system" : role === "assistant" ? "assistant" : "user",
    parts: all,
    ...(model !== undefined && { model }),
    ...(Object.keys(meta).length > 0 && { meta: { [NAME]: meta } }),
  };
}

function contentAndCalls(message: JsonObject, functionCall: string) {
  const calls = arrayOf(message.tool_calls);
  const legacy = objectOf(message.function_call);
  const isSilent = (calls.length > 0 || legacy !== undefined) && message.content === "";
  const content = contentOfChat(isSilent ? null : message.content);
  const parts: PartInput[] = [...content.parts];
  const extras: [string, { readonly [field: string]: Json }][] = Object.entries(content.extras ?? {});
  if (typeof message.refusal === "string")
    parts.push({ type: "raw", format: NAME, value: { type: "refusal", refusal: message.refusal } });
  for (const value of calls) {
    const call = callOfChat(value);
    if (call?.extra) extras.push([String(parts.length), call.extra]);
    parts.push(call?.part ?? { type: "raw", format: NAME, value: value as Json });
  }
  if (legacy) {
    const { input } = argumentsOf(legacy.arguments);
    parts.push({ type: "tool-call", callId: functionCall, name: textOf(legacy.name) ?? "function", input });
  }
  const pictures = picturesOf(message);
  for (const one of Object.entries(shifted(pictures.extras ?? {}, parts.length))) extras.push(one);
  for (const part of [...pictures.parts, ...soundOf(message)]) parts.push(part);
  return { parts, extras: extras.length > 0 ? (Object.fromEntries(extras) as Extras) : undefined };
}

function toolMessage(message: JsonObject, functionCall: string): MessageInput | undefined {
  if (message.content === NO_RESULT) return undefined;
  const callId = textOf(message.tool_call_id) ?? functionCall;
  const name = textOf(message.name);
  const { output, isError } = withoutError(chatOutputOf(message.content));
  const rest = fieldsBesides(message, [...KNOWN, "name"]);
  return {
    role: "tool",
    parts: [{ type: "tool-result", callId, ...definedFields({ name, isError }), output }],
    ...(rest && { meta: { [NAME]: rest } }),
  };
}

type Output = ReturnType<typeof chatOutputOf>;

/** Removes the error mark from an output, if it has one. */
function withoutError(output: Output): { readonly output: Output; readonly isError?: true } {
  const first = typeof output === "string" ? output : output[0]?.type === "text" ? output[0].text : "";
  const text = withoutErrorMark(first);
  if (text === undefined) return { output };
  if (typeof output === "string") return { output: text, isError: true };
  return text === "" ? { output: output.slice(1), isError: true } : { output };
}

/**
 * Converts reasoning from the fields that different servers use; `reasoning_details` hold signatures and stay
 * unchanged.
 */
function reasoningOf(message: JsonObject): { readonly part: PartInput; readonly field: string } | undefined {
  const field = typeof message.reasoning_content === "string" ? "reasoning_content" : "reasoning";
  const text = textOf(message[field]);
  const details = arrayOf(message.reasoning_details);
  if (text === undefined && details.length === 0) return undefined;
  const told = details.map(
    (detail) => textOf(objectOf(detail)?.text) ?? textOf(objectOf(detail)?.summary) ?? "",
  );
  return {
    part: {
      type: "reasoning",
      text: text ?? told.join(""),
      ...(details.length > 0 && { opaque: { reasoning_details: details as Json } }),
    },
    field: text === undefined ? "reasoning_details" : field,
  };
}

function shifted(extras: Extras, by: number): Extras {
  return Object.fromEntries(
    Object.entries(extras).map(([index, fields]) => [String(Number(index) + by), fields]),
  );
}
