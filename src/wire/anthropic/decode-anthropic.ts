import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Json } from "../../model/json.ts";
import type { MessageInput, Role } from "../../model/message.ts";
import type { PartInput, ToolResultInput } from "../../model/part.ts";
import {
  type Content,
  decodeBlockContent,
  decodeBlockOutput,
  decodeElements,
  type KnownPart,
  removeElementMarks,
} from "../block-content.ts";
import { omitFields, toObject, toText } from "../fields.ts";
import { buildDataPart } from "../media.ts";
import type { DecodedMessage, WireObject } from "../wire.ts";

/** The name of the format, for raw parts and meta. */
export const ANTHROPIC_NAME = "anthropic";

const KNOWN_FIELDS = [
  "type",
  "role",
  "content",
  "id",
  "model",
  "usage",
  "stop_reason",
  "stop_sequence",
  "container",
];

/** Decodes the messages of a request, one per element. */
export function decodeAnthropic(elements: readonly WireObject[]): readonly DecodedMessage[] {
  return decodeElements(elements, decodeAnthropicElement);
}

/** Decodes one message of a request, without its cache markers. */
export function decodeAnthropicElement(marked: WireObject): MessageInput {
  return decodeAnthropicMessage(removeElementMarks(marked), KNOWN_FIELDS);
}

/** Decodes one message; fields other than `known` go into its meta. */
export function decodeAnthropicMessage(message: WireObject, known: readonly string[]): MessageInput {
  const { parts, extras } = decodeBlockContent(message.content, ANTHROPIC_NAME, decodeBlock);
  const model = toText(message.model);
  const rest = omitFields(message, known);
  const role = toRole(message.role, parts);
  if (model === undefined && !rest && !extras) return { role, parts };
  return {
    role,
    parts,
    ...dropUndefined({ model }),
    ...((rest || extras) && { meta: { [ANTHROPIC_NAME]: { ...rest, ...dropUndefined({ extras }) } } }),
  };
}

/** Decodes the system prompt. */
export function decodeAnthropicLead({ system }: WireObject): readonly MessageInput[] {
  if (typeof system !== "string" && !Array.isArray(system)) return [];
  return [decodeAnthropicElement({ role: "system", content: system })];
}

/** True for a message, as opposed to a request or response with messages. */
export function isAnthropicMessage({ role, content }: WireObject): boolean {
  return typeof role === "string" && (typeof content === "string" || Array.isArray(content));
}

/** False for a block with incomplete input. */
export function isCompleteBlock(block: WireObject): boolean {
  return !("input" in block) || toObject(block.input) !== undefined;
}

/** Tool results are sent in the role of the user. */
function toRole(role: unknown, parts: readonly PartInput[]): Role {
  if (role === "assistant") return "assistant";
  if (role === "system" || role === "developer") return "system";
  const isAnswer = parts[0]?.type === "tool-result" && parts.every(({ type }) => type === "tool-result");
  return isAnswer ? "tool" : "user";
}

/** Fields of the blocks that parts represent. */
const TEXT_FIELDS = ["type", "text"];
const THINKING_FIELDS = ["type", "thinking", "signature"];
const REDACTED_FIELDS = ["type", "data"];
const CALL_FIELDS = ["type", "id", "name", "input"];
const RESULT_FIELDS = ["type", "tool_use_id", "content", "is_error"];

/** Converts Anthropic content, a string or blocks. Unknown blocks become raw parts of `format`. */
export function decodeAnthropicBlocks(content: unknown, format: string): Content {
  return decodeBlockContent(content, format, decodeBlock);
}

function decodeBlock(block: WireObject, format: string): KnownPart | undefined {
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") return undefined;
      return { part: { type: "text", text: block.text }, fields: TEXT_FIELDS };
    case "thinking":
      if (typeof block.thinking !== "string") return undefined;
      return {
        part: decodeThinking(block.thinking, block.signature as Json | undefined),
        fields: THINKING_FIELDS,
      };
    case "redacted_thinking":
      if (typeof block.data !== "string") return undefined;
      return {
        part: { type: "reasoning", text: "", opaque: { redacted: block.data } },
        fields: REDACTED_FIELDS,
      };
    case "tool_use":
      if (typeof block.id !== "string" || typeof block.name !== "string" || block.input === undefined)
        return undefined;
      return {
        part: { type: "tool-call", callId: block.id, name: block.name, input: block.input as Json },
        fields: CALL_FIELDS,
      };
    case "tool_result":
      if (typeof block.tool_use_id !== "string") return undefined;
      return {
        part: decodeToolResult(block, block.tool_use_id, format),
        fields: RESULT_FIELDS,
      };
    case "image":
    case "document":
      return decodeMedia(block);
    default:
      return undefined;
  }
}

function decodeThinking(text: string, opaque: Json | undefined): PartInput {
  return opaque === undefined ? { type: "reasoning", text } : { type: "reasoning", text, opaque };
}

function decodeToolResult(block: WireObject, callId: string, format: string): ToolResultInput {
  const { is_error: isError } = block;
  const output = decodeBlockOutput(block.content, format, decodeBlock);
  return typeof isError === "boolean"
    ? { type: "tool-result", callId, isError, output }
    : { type: "tool-result", callId, output };
}

function decodeMedia(block: WireObject): KnownPart | undefined {
  const source = toObject(block.source);
  if (source?.type !== "base64" || omitFields(source, ["type", "media_type", "data"])) return undefined;
  const name = block.type === "document" && typeof block.title === "string" ? block.title : undefined;
  const part = buildDataPart(source.data, source.media_type, name);
  return part && { part, fields: name === undefined ? ["type", "source"] : ["type", "source", "title"] };
}
