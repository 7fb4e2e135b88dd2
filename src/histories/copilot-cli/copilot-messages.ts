import type { Json, MessageInput, PartInput, ReasoningPart, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { Assets } from "./assets.ts";

/** A message with fields that are too large for its meta. */
export interface CopilotMessage {
  readonly message: MessageInput;
  readonly large?: Leftovers;
  readonly copiedBytes?: number;
}

const NAME = "copilot-cli";

/** Converts a user message. Text that Copilot added for the model goes into meta. */
export function decodeUserMessage(data: JsonObject, assets: Assets): CopilotMessage {
  const text = toText(data.content) ?? "";
  const parts: PartInput[] = [{ type: "text", text }];
  for (const value of toArray(data.attachments)) parts.push(decodeAttachment(value, assets));
  const around = findWrapping(text, data.transformedContent);
  const left = { ...nonEmptyFields(data, ["content", "transformedContent", "attachments"]), ...around };
  const copiedBytes = around?.wrapping === undefined ? 0 : Buffer.byteLength(text);
  return { ...buildMessage({ role: "user", parts }, left), copiedBytes };
}

function decodeAttachment(value: unknown, assets: Assets): PartInput {
  const shown = toObject(value);
  const part = shown && assets.takePart(shown, toText(shown.displayName));
  const isWhole =
    !shown || !omitFields(shown, ["type", "data", "assetId", "mimeType", "displayName", "byteLength"]);
  return part && isWhole ? part : { type: "raw", format: NAME, value: value as Json };
}

/** Returns the text before and after the user's words in the transformed content. */
function findWrapping(text: string, transformed: unknown): Leftovers | undefined {
  if (typeof transformed !== "string" || transformed === text) return undefined;
  const at = text === "" ? -1 : transformed.indexOf(text);
  if (at < 0) return { transformedContent: transformed };
  return { wrapping: [transformed.slice(0, at), transformed.slice(at + text.length)] };
}

/** Converts a system or developer message. */
export function decodeSystemMessage(data: JsonObject): CopilotMessage {
  const message: MessageInput = {
    role: "system",
    parts: [{ type: "text", text: toText(data.content) ?? "" }],
  };
  const held = data.role === "system" ? ["content", "role"] : ["content"];
  return buildMessage(message, nonEmptyFields(data, held) ?? {});
}

const REASONING_FIELDS = ["reasoningOpaque", "encryptedContent", "reasoningBlocks", "reasoningWireField"];

/** Converts an assistant message with its tool calls; `thoughts` come from separate events. */
export function decodeAssistantMessage(data: JsonObject, thoughts: readonly ReasoningPart[]): CopilotMessage {
  const calls = toArray(data.toolRequests).map(decodeToolRequest);
  const text = toText(data.content);
  const reasoning = decodeReasoning(data);
  const parts: PartInput[] = [
    ...(reasoning ? thoughts.filter((thought) => thought.text !== reasoning.text) : thoughts),
    ...(reasoning ? [reasoning] : []),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...calls.map(({ part }) => part),
  ];
  const model = toText(data.model);
  const extras = calls.flatMap(({ part, extra }) =>
    extra && "callId" in part ? [[part.callId, extra]] : [],
  );
  const left = {
    ...nonEmptyFields(data, [
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
  return buildMessage({ role: "assistant", parts: said, ...dropUndefined({ model }) }, left);
}

function decodeReasoning(data: JsonObject): ReasoningPart | undefined {
  const opaque = nonEmptyFields(Object.fromEntries(REASONING_FIELDS.map((name) => [name, data[name]])), []);
  const text = toText(data.reasoningText);
  if (text === undefined && !opaque) return undefined;
  return { type: "reasoning", text: text ?? "", ...(opaque && { opaque }) };
}

interface ToolRequest {
  readonly part: PartInput;
  readonly extra?: Leftovers;
}

/** Converts a tool call from a message or a separate event. */
export function decodeToolRequest(value: unknown): ToolRequest {
  const request = toObject(value);
  const callId = toText(request?.toolCallId);
  const name = toText(request?.name) ?? toText(request?.toolName);
  if (!request || callId === undefined || name === undefined)
    return { part: { type: "raw", format: NAME, value: value as Json } };
  const input = request.arguments === undefined ? {} : (request.arguments as Json);
  const extra = nonEmptyFields(request, ["toolCallId", "name", "toolName", "arguments"]);
  return { part: { type: "tool-call", callId, name, input }, ...(extra && { extra }) };
}

/** Converts a tool result; undefined if it names no call. */
export function decodeToolResultMessage(data: JsonObject, assets: Assets): CopilotMessage | undefined {
  const callId = toText(data.toolCallId);
  if (callId === undefined) return undefined;
  const result = toObject(data.result);
  const failure = toText(toObject(data.error)?.message);
  const { output, copiedBytes, resultLeft } = result
    ? decodeOutput(result, assets)
    : { output: failure ?? "", copiedBytes: 0, resultLeft: undefined };
  const isError = data.success === false ? true : undefined;
  const part: ToolResultInput = { type: "tool-result", callId, ...dropUndefined({ isError }), output };
  const errorLeft = failure === undefined ? data.error : omitFields(toObject(data.error) ?? {}, ["message"]);
  const left = {
    ...nonEmptyFields({ ...data, error: result ? data.error : errorLeft }, [
      "toolCallId",
      "success",
      "result",
    ]),
    ...(resultLeft && { result: resultLeft as Json }),
  };
  return { ...buildMessage({ role: "tool", parts: [part] }, left), copiedBytes };
}

type OutputParts = Exclude<ToolResultInput["output"], string>;

/** Converts the output that the model saw; output only for people goes into the leftovers, unless it is the same. */
function decodeOutput(result: JsonObject, assets: Assets) {
  const text = toText(result.content) ?? "";
  const blocks = [...toArray(result.contents), ...toArray(result.binaryResultsForLlm)];
  const seen = new Set([text]);
  let copiedBytes = 0;
  const shown = blocks.flatMap((value): OutputParts => {
    const block = toObject(value);
    const said = toText(block?.text) ?? toText(block?.data) ?? toText(block?.assetId);
    if (said !== undefined && seen.has(said)) {
      copiedBytes += Buffer.byteLength(said);
      return [];
    }
    if (said !== undefined) seen.add(said);
    return [(block && assets.takePart(block)) ?? { type: "raw", format: NAME, value: value as Json }];
  });
  const isSame = result.detailedContent === text;
  if (isSame) copiedBytes += Buffer.byteLength(text);
  const held = ["content", "contents", "binaryResultsForLlm", ...(isSame ? ["detailedContent"] : [])];
  const output = shown.length === 0 ? text : [...(text ? [{ type: "text", text } as const] : []), ...shown];
  return { output, copiedBytes, resultLeft: nonEmptyFields(result, held) };
}

function buildMessage(message: MessageInput, left: Leftovers): CopilotMessage {
  const { small, large } = splitLeftovers(Object.keys(left).length > 0 ? left : undefined);
  return {
    message: { ...message, ...(small && { meta: { [NAME]: small } }) },
    ...(large && { large }),
  };
}
