import type { Json, ToolResultInput } from "../../index.ts";
import { sniffMime } from "../../index.ts";
import { type Content, contentOf, type KnownPart, outputIn } from "../content/blocks.ts";
import { definedFields } from "../content/fields.ts";
import { dataPart } from "../content/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Converts pi's content, a string or blocks. Unknown blocks become raw parts of `format`. */
export function contentOfPi(content: unknown, format: string): Content {
  return contentOf(content, format, partOfBlock);
}

/** Converts the output of a tool result. Blocks with further fields stay raw. */
export function outputOfPi(content: unknown, format: string): ToolResultInput["output"] {
  return outputIn(content, format, partOfBlock);
}

function partOfBlock(block: JsonObject): KnownPart | undefined {
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
          ...definedFields({ opaque: block.thinkingSignature as Json }),
        },
        fields: ["type", "thinking", "thinkingSignature"],
      };
    case "toolCall":
      if (typeof block.id !== "string" || typeof block.name !== "string" || block.arguments === undefined)
        return undefined;
      return {
        part: { type: "tool-call", callId: block.id, name: block.name, input: block.arguments as Json },
        fields: ["type", "id", "name", "arguments"],
      };
    case "image":
      return imageOf(block);
    default:
      return undefined;
  }
}

function imageOf(block: JsonObject): KnownPart | undefined {
  const part = dataPart(block.data, block.mimeType);
  if (!part) return undefined;
  const shown = sniffMime(Buffer.from(String(block.data).slice(0, 64), "base64"));
  // The log uses the type that the bytes show; a different label is kept as an extra field.
  const isLabelled = shown === undefined || shown === block.mimeType;
  return { part, fields: isLabelled ? ["type", "data", "mimeType"] : ["type", "data"] };
}
