import type { Json } from "../../model/json.ts";
import type { PartInput, ToolResultInput } from "../../model/part.ts";
import { type Content, decodeBlockContent, decodeBlockOutput, type KnownPart } from "../block-content.ts";
import { omitFields, toObject } from "../fields.ts";
import { buildDataPart } from "../media.ts";
import type { WireObject } from "../wire.ts";

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
