import type { Json, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { type Content, contentOf, type KnownPart, outputIn } from "./blocks.ts";
import { definedFields, fieldsBesides, objectOf } from "./fields.ts";
import { dataPart } from "./media.ts";

/** Converts Anthropic content, a string or blocks. Unknown blocks become raw parts of `format`. */
export function contentOfBlocks(content: unknown, format: string): Content {
  return contentOf(content, format, (block) => partOfBlock(block, format));
}

/** Converts the output of a tool result: a string, or blocks of text and media. */
export function outputOf(content: unknown, format: string): ToolResultInput["output"] {
  return outputIn(content, format, (block) => partOfBlock(block, format));
}

function partOfBlock(block: JsonObject, format: string): KnownPart | undefined {
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") return undefined;
      return { part: { type: "text", text: block.text }, fields: ["type", "text"] };
    case "thinking":
      if (typeof block.thinking !== "string") return undefined;
      return {
        part: {
          type: "reasoning",
          text: block.thinking,
          ...definedFields({ opaque: block.signature as Json }),
        },
        fields: ["type", "thinking", "signature"],
      };
    case "redacted_thinking":
      if (typeof block.data !== "string") return undefined;
      return {
        part: { type: "reasoning", text: "", opaque: { redacted: block.data } },
        fields: ["type", "data"],
      };
    case "tool_use":
      if (typeof block.id !== "string" || typeof block.name !== "string" || block.input === undefined)
        return undefined;
      return {
        part: { type: "tool-call", callId: block.id, name: block.name, input: block.input as Json },
        fields: ["type", "id", "name", "input"],
      };
    case "tool_result":
      if (typeof block.tool_use_id !== "string") return undefined;
      return {
        part: toolResult(block, block.tool_use_id, format),
        fields: ["type", "tool_use_id", "content", "is_error"],
      };
    case "image":
    case "document":
      return mediaOf(block);
    default:
      return undefined;
  }
}

function toolResult(block: JsonObject, callId: string, format: string): ToolResultInput {
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return {
    type: "tool-result",
    callId,
    ...definedFields({ isError }),
    output: outputOf(block.content, format),
  };
}

function mediaOf(block: JsonObject): KnownPart | undefined {
  const source = objectOf(block.source);
  if (source?.type !== "base64" || fieldsBesides(source, ["type", "media_type", "data"])) return undefined;
  const name = block.type === "document" && typeof block.title === "string" ? block.title : undefined;
  const part = dataPart(source.data, source.media_type, name);
  return part && { part, fields: name === undefined ? ["type", "source"] : ["type", "source", "title"] };
}
