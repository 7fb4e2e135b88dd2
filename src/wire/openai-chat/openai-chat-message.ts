import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { Message, MessageInput } from "../../model/message.ts";
import type { Part, PartInput } from "../../model/part.ts";
import type { Extras } from "../block-content.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { NO_RESULT, withoutErrorMark } from "../result-marks.ts";
import type { WireObject } from "../wire.ts";
import {
  decodeChatCall,
  decodeChatContent,
  decodeChatOutput,
  parseCallArguments,
} from "./chat-content-decode.ts";
import { decodeAudio, decodeImages } from "./openai-chat-media-fields.ts";

const NAME = "openai-chat";

const KNOWN_FIELDS = [
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
/** Assistant messages have further fields. */
const ASSISTANT_FIELDS = [...KNOWN_FIELDS, "images", "audio"];
const RESULT_FIELDS = [...KNOWN_FIELDS, "name"];

/** Converts a message; undefined for a placeholder result, which exists only because a request requires one. */
export function decodeChatMessage(message: WireObject, functionCall: string): MessageInput | undefined {
  const { role } = message;
  if (role === "tool" || role === "function") return decodeToolMessage(message, functionCall);
  const model = toText(message.model);
  const reasoning = decodeReasoning(message);
  const { parts, extras } = decodeContentAndCalls(message, functionCall);
  const all: readonly PartInput[] = [...(reasoning ? [reasoning.part] : []), ...parts];
  const meta = {
    ...omitFields(message, role === "assistant" ? ASSISTANT_FIELDS : KNOWN_FIELDS),
    ...(role === "developer" && { role }),
    ...(reasoning && { reasoning: reasoning.field }),
    ...(extras && { extras: shiftExtras(extras, reasoning ? 1 : 0) }),
  };
  return {
    role: role === "system" || role === "developer" ? "system" : role === "assistant" ? "assistant" : "user",
    parts: all,
    ...dropUndefined({ model }),
    ...(Object.keys(meta).length > 0 && { meta: { ...findSpeakerName(message), [NAME]: meta } }),
  };
}

/** The reasoning of a reply, in the field that it came in. */
export function buildReasoningFields(parts: readonly Part[], field: unknown): WireObject {
  const part = parts.find(({ type }) => type === "reasoning");
  if (part?.type !== "reasoning") return {};
  const details = toObject(part.opaque)?.reasoning_details;
  const isNamed = field === "reasoning_content" || field === "reasoning";
  return { ...(isNamed && { [field]: part.text }), ...dropUndefined({ reasoning_details: details }) };
}

/** True if a message came with reasoning through Chat Completions, where it is a field of the reply. */
export function hasChatReasoning({ meta }: Pick<Message, "meta">): boolean {
  return toObject(meta?.[NAME])?.reasoning !== undefined;
}

/** The name of a participant, as recall reads it. */
function findSpeakerName({ role, name }: WireObject): { readonly speaker?: string } {
  const isSpoken = role === "user" || role === "assistant";
  return isSpoken && typeof name === "string" && name !== "" ? { speaker: name } : {};
}

function decodeContentAndCalls(message: WireObject, functionCall: string) {
  const calls = toArray(message.tool_calls);
  const legacy = toObject(message.function_call);
  const isSilent = (calls.length > 0 || legacy !== undefined) && message.content === "";
  const content = decodeChatContent(isSilent ? null : message.content);
  const parts: PartInput[] = [...content.parts];
  const extras: [string, { readonly [field: string]: Json }][] = Object.entries(content.extras ?? {});
  if (typeof message.refusal === "string")
    parts.push({ type: "raw", format: NAME, value: { type: "refusal", refusal: message.refusal } });
  for (const value of calls) {
    const call = decodeChatCall(value);
    if (call?.extra) extras.push([String(parts.length), call.extra]);
    parts.push(call?.part ?? { type: "raw", format: NAME, value: value as Json });
  }
  if (legacy) {
    const { input } = parseCallArguments(legacy.arguments);
    parts.push({ type: "tool-call", callId: functionCall, name: toText(legacy.name) ?? "function", input });
  }
  const pictures = decodeImages(message);
  for (const one of Object.entries(shiftExtras(pictures.extras ?? {}, parts.length))) extras.push(one);
  for (const part of [...pictures.parts, ...decodeAudio(message)]) parts.push(part);
  return { parts, extras: extras.length > 0 ? (Object.fromEntries(extras) as Extras) : undefined };
}

function decodeToolMessage(message: WireObject, functionCall: string): MessageInput | undefined {
  if (message.content === NO_RESULT) return undefined;
  const callId = toText(message.tool_call_id) ?? functionCall;
  const name = toText(message.name);
  const { output, isError } = removeErrorMark(decodeChatOutput(message.content));
  const rest = omitFields(message, RESULT_FIELDS);
  return {
    role: "tool",
    parts: [{ type: "tool-result", callId, ...dropUndefined({ name, isError }), output }],
    ...(rest && { meta: { [NAME]: rest } }),
  };
}

type ChatOutput = ReturnType<typeof decodeChatOutput>;

/** Removes the error mark from an output, if it has one. */
function removeErrorMark(output: ChatOutput): { readonly output: ChatOutput; readonly isError?: true } {
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
function decodeReasoning(
  message: WireObject,
): { readonly part: PartInput; readonly field: string } | undefined {
  const field = typeof message.reasoning_content === "string" ? "reasoning_content" : "reasoning";
  const text = toText(message[field]);
  const details = toArray(message.reasoning_details);
  if (text === undefined && details.length === 0) return undefined;
  const detailTexts = details.map(
    (detail) => toText(toObject(detail)?.text) ?? toText(toObject(detail)?.summary) ?? "",
  );
  return {
    part: {
      type: "reasoning",
      text: text ?? detailTexts.join(""),
      ...(details.length > 0 && { opaque: { reasoning_details: details as Json } }),
    },
    field: text === undefined ? "reasoning_details" : field,
  };
}

function shiftExtras(extras: Extras, by: number): Extras {
  return Object.fromEntries(
    Object.entries(extras).map(([index, fields]) => [String(Number(index) + by), fields]),
  );
}
