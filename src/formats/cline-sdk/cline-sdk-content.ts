import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/anthropic-block-decode.ts";
import type { Extras } from "../../wire/block-content.ts";
import { dropUndefined, omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

const FORMAT = "cline-sdk";

interface DecodedPart {
  readonly part: PartInput;
  /** Fields that the part cannot represent. */
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of an SDK message: a string, or one part per block. */
export function decodeClineSdkContent(content: unknown): {
  readonly parts: readonly PartInput[];
  readonly extras?: Extras;
} {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const known = toArray(content).map((block): DecodedPart => {
    const fields = toObject(block);
    return (fields && decodePart(fields)) ?? { part: { type: "raw", format: FORMAT, value: block as Json } };
  });
  const extras = known.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const parts = known.map(({ part }) => part);
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

function decodePart(block: JsonObject): DecodedPart | undefined {
  switch (block.type) {
    case "image":
      return decodeImage(block);
    case "media":
      return decodeMedia(block);
    case "file":
      if (typeof block.content !== "string") return undefined;
      return { part: { type: "text", text: block.content }, extra: omitFields(block, ["content"]) };
    case "tool_result":
      return decodeToolResult(block);
    default: {
      const { parts, extras } = decodeAnthropicBlocks([block], FORMAT);
      return { part: parts[0] as PartInput, extra: extras?.["0"] };
    }
  }
}

function decodeImage(block: JsonObject): DecodedPart | undefined {
  const part = buildDataPart(block.data, block.mediaType);
  return part && { part, extra: omitFields(block, ["type", "data", "mediaType"]) };
}

/** Converts media that a model generated; without inline bytes the block is kept raw. */
function decodeMedia(block: JsonObject): DecodedPart | undefined {
  const made = toObject(block.media);
  const part = made && buildDataPart(made.data, made.mediaType, toText(made.name));
  const rest = made && omitFields(made, ["data", "mediaType"]);
  return part && { part, extra: { type: "media", ...dropUndefined({ media: rest }) } };
}

function decodeToolResult(block: JsonObject): DecodedPart | undefined {
  if (typeof block.tool_use_id !== "string") return undefined;
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return {
    part: {
      type: "tool-result",
      callId: block.tool_use_id,
      ...dropUndefined({ name: toText(block.name), isError }),
      output: decodeOutput(block.content),
    },
    extra: omitFields(block, ["type", "tool_use_id", "name", "content", "is_error"]),
  };
}

function decodeOutput(content: unknown): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  return toArray(content).map((block) => {
    const fields = toObject(block);
    const known = fields && decodePart(fields);
    const isWhole = known && !known.extra;
    if (isWhole && (known.part.type === "text" || known.part.type === "data")) return known.part;
    return { type: "raw", format: FORMAT, value: block as Json };
  });
}
