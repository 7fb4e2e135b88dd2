import type { Json, ToolResultInput } from "../../index.ts";
import { sniffMime } from "../../model/mime.ts";
import {
  type Content,
  decodeBlockContent,
  decodeBlockOutput,
  type KnownPart,
} from "../../wire/block-content.ts";
import { dropUndefined } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Converts pi's content, a string or blocks. Unknown blocks become raw parts of `format`. */
export function decodePiContent(content: unknown, format: string): Content {
  return decodeBlockContent(content, format, decodeBlock);
}

/** Converts the output of a tool result. Blocks with further fields stay raw. */
export function decodePiOutput(content: unknown, format: string): ToolResultInput["output"] {
  return decodeBlockOutput(content, format, decodeBlock);
}

function decodeBlock(block: JsonObject): KnownPart | undefined {
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
          ...dropUndefined({ opaque: block.thinkingSignature as Json }),
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
      return decodeImage(block);
    default:
      return undefined;
  }
}

function decodeImage(block: JsonObject): KnownPart | undefined {
  const part = buildDataPart(block.data, block.mimeType);
  if (!part) return undefined;
  const shown = sniffMime(Buffer.from(String(block.data).slice(0, 64), "base64"));
  // The log uses the type that the bytes show; a different label is kept as an extra field.
  const isLabelled = shown === undefined || shown === block.mimeType;
  return { part, fields: isLabelled ? ["type", "data", "mimeType"] : ["type", "data"] };
}
