import type { Json, MessageInput, PartInput, ReasoningPart, ToolResultInput } from "../../index.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "../content/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { toldFields } from "../content/told-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Assets } from "./assets.ts";

/** A message with fields that are too large for its meta. */
export interface Spoken {
  readonly message: MessageInput;
  readonly large?: Leftovers;
  readonly copiedBytes?: number;
}

const NAME = "copilot-cli";

/** Converts a user message. Text that Copilot added for the model goes into meta. */
export function userMessage(data: JsonObject, assets: Assets): Spoken {
  const text = textOf(data.content) ?? "";
  const parts: PartInput[] = [{ type: "text", text }];
  for (const value of arrayOf(data.attachments)) parts.push(attachmentPart(value, assets));
  const around = wrapping(text, data.transformedContent);
  const left = { ...toldFields(data, ["content", "transformedContent", "attachments"]), ...around };
  const copiedBytes = around?.wrapping === undefined ? 0 : Buffer.byteLength(text);
  return { ...spoken({ role: "user", parts }, left), copiedBytes };
}

function attachmentPart(value: unknown, assets: Assets): PartInput {
  const shown = objectOf(value);
  const part = shown && assets.partOf(shown, textOf(shown.displayName));
  const isWhole =
    !shown || !fieldsBesides(shown, ["type", "data", "assetId", "mimeType", "displayName", "byteLength"]);
  return part && isWhole ? part : { type: "raw", format: NAME, value: value as Json };
}

/** Returns the text before and after the user's words in the transformed content. */
function wrapping(text: string, transformed: unknown): Leftovers | undefined {
  if (typeof transformed !== "string" || transformed === text) return undefined;
  const at = text === "" ? -1 : transformed.indexOf(text);
  if (at < 0) return { transformedContent: transformed };
  return { wrapping: [transformed.slice(0, at), transformed.slice(at + text.length)] };
}

/** Converts a system or developer message. */
export function systemMessage(data: JsonObject): Spoken {
  const message: MessageInput = {
    role: "system",
    parts: [{ type: "text", text: textOf(data.content) ?? "" }],
  };
  const held = data.role === "system" ? ["content", "role"] : ["content"];
  return spoken(message, toldFields(data, held) ?? {});
}

const REASONING_FIELDS = ["reasoningOpaque", "encryptedContent", "reasoningBlocks", "reasoningWireField"];

/** Converts an assistant message with its tool calls; `thoughts` come from separate events. */
export function assistantMessage(data: JsonObject, thoughts: readonly ReasoningPart[]): Spoken {
  const calls = arrayOf(data.toolRequests).map(callPart);
  const text = textOf(data.content);
  const reasoning = reasoningPart(data);
  const parts: PartInput[] = [
    ...(reasoning ? thoughts.filter((thought) => thought.text !== reasoning.text) : thoughts),
    ...(reasoning ? [reasoning] : []),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...calls.map(({ part }) => part),
  ];
  const model = textOf(data.model);
  const extras = calls.flatMap(({ part, extra }) =>
    extra && "callId" in part ? [[part.callId, extra]] : [],
  );
  const left = {
    ...toldFields(data, [
      "content",
      "toolRequests",
      "model",
      "outputTokens",
      "reasoningText",
      ...REASONING_FIELDS,
    ]),
    ...(extras.length > 0 && { calls: Object.fromEntries(extras) as Json }),
  };
  // A message without text is still a message.
  const said: readonly PartInput[] = parts.length > 0 ? parts : [{ type: "text", text: "" }];
  return spoken({ role: "assistant", parts: said, ...definedFields({ model }) }, left);
}

function reasoningPart(data: JsonObject): ReasoningPart | undefined {
  const opaque = toldFields(Object.fromEntries(REASONING_FIELDS.map((name) => [name, data[name]])), []);
  const text = textOf(data.reasoningText);
  if (text === undefined && !opaque) return undefined;
  return { type: "reasoning", text: text ?? "", ...(opaque && { opaque }) };
}

interface Call {
  readonly part: PartInput;
  readonly extra?: Leftovers;
}

/** Converts a tool call from a message or a separate event. */
export function callPart(value: unknown): Call {
  const request = objectOf(value);
  const callId = textOf(request?.toolCallId);
  const name = textOf(request?.name) ?? textOf(request?.toolName);
  if (!request || callId === undefined || name === undefined)
    return { part: { type: "raw", format: NAME, value: value as Json } };
  const input = request.arguments === undefined ? {} : (request.arguments as Json);
  const extra = toldFields(request, ["toolCallId", "name", "toolName", "arguments"]);
  return { part: { type: "tool-call", callId, name, input }, ...(extra && { extra }) };
}

/** Converts a tool result; undefined if it names no call. */
export function toolMessage(data: JsonObject, assets: Assets): Spoken | undefined {
  const callId = textOf(data.toolCallId);
  if (callId === undefined) return undefined;
  const result = objectOf(data.result);
  const failure = textOf(objectOf(data.error)?.message);
  const { output, copiedBytes, resultLeft } = result
    ? outputOf(result, assets)
    : { output: failure ?? "", copiedBytes: 0, resultLeft: undefined };
  const isError = data.success === false ? true : undefined;
  const part: ToolResultInput = { type: "tool-result", callId, ...definedFields({ isError }), output };
  const errorLeft =
    failure === undefined ? data.error : fieldsBesides(objectOf(data.error) ?? {}, ["message"]);
  const left = {
    ...toldFields({ ...data, error: result ? data.error : errorLeft }, ["toolCallId", "success", "result"]),
    ...(resultLeft && { result: resultLeft as Json }),
  };
  return { ...spoken({ role: "tool", parts: [part] }, left), copiedBytes };
}

type Output = Exclude<ToolResultInput["output"], string>;

/** Converts the output that the model saw; output only for people goes into the leftovers, unless it is the same. */
function outputOf(result: JsonObject, assets: Assets) {
  const text = textOf(result.content) ?? "";
  const blocks = [...arrayOf(result.contents), ...arrayOf(result.binaryResultsForLlm)];
  const seen = new Set([text]);
  let copiedBytes = 0;
  const shown = blocks.flatMap((value): Output => {
    const block = objectOf(value);
    const said = textOf(block?.text) ?? textOf(block?.data) ?? textOf(block?.assetId);
    if (said !== undefined && seen.has(said)) {
      copiedBytes += Buffer.byteLength(said);
      return [];
    }
    if (said !== undefined) seen.add(said);
    return [(block && assets.partOf(block)) ?? { type: "raw", format: NAME, value: value as Json }];
  });
  const isSame = result.detailedContent === text;
  if (isSame) copiedBytes += Buffer.byteLength(text);
  const held = ["content", "contents", "binaryResultsForLlm", ...(isSame ? ["detailedContent"] : [])];
  const output = shown.length === 0 ? text : [...(text ? [{ type: "text", text } as const] : []), ...shown];
  return { output, copiedBytes, resultLeft: toldFields(result, held) };
}

function spoken(message: MessageInput, left: Leftovers): Spoken {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  return {
    message: { ...message, ...(small && { meta: { [NAME]: small } }) },
    ...(large && { large }),
  };
}
