import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import { contentOfBlocks } from "../content/anthropic-blocks.ts";
import type { Extras } from "../content/blocks.ts";
import { arrayOf, definedFields, fieldsBesides, objectOf, textOf } from "../content/fields.ts";
import { dataPart } from "../content/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";

const FORMAT = "cline-sdk";

interface KnownPart {
  readonly part: PartInput;
  /** Fields that the part cannot represent. */
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of an SDK message: a string, or one part per block. */
export function contentOf(content: unknown): {
  readonly parts: readonly PartInput[];
  readonly extras?: Extras;
} {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const known = arrayOf(content).map((block): KnownPart => {
    const fields = objectOf(block);
    return (fields && partOf(fields)) ?? { part: { type: "raw", format: FORMAT, value: block as Json } };
  });
  const extras = known.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const parts = known.map(({ part }) => part);
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

function partOf(block: JsonObject): KnownPart | undefined {
  switch (block.type) {
    case "image":
      return image(block);
    case "media":
      return media(block);
    case "file":
      if (typeof block.content !== "string") return undefined;
      return { part: { type: "text", text: block.content }, extra: fieldsBesides(block, ["content"]) };
    case "tool_result":
      return toolResult(block);
    default: {
      const { parts, extras } = contentOfBlocks([block], FORMAT);
      return { part: parts[0] as PartInput, extra: extras?.["0"] };
    }
  }
}

function image(block: JsonObject): KnownPart | undefined {
  const part = dataPart(block.data, block.mediaType);
  return part && { part, extra: fieldsBesides(block, ["type", "data", "mediaType"]) };
}

/** Converts media that a model generated; without inline bytes the block is kept raw. */
function media(block: JsonObject): KnownPart | undefined {
  const made = objectOf(block.media);
  const part = made && dataPart(made.data, made.mediaType, textOf(made.name));
  const rest = made && fieldsBesides(made, ["data", "mediaType"]);
  return part && { part, extra: { type: "media", ...definedFields({ media: rest }) } };
}

function toolResult(block: JsonObject): KnownPart | undefined {
  if (typeof block.tool_use_id !== "string") return undefined;
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return {
    part: {
      type: "tool-result",
      callId: block.tool_use_id,
      ...definedFields({ name: textOf(block.name), isError }),
      output: outputOf(block.content),
    },
    extra: fieldsBesides(block, ["type", "tool_use_id", "name", "content", "is_error"]),
  };
}

function outputOf(content: unknown): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  return arrayOf(content).map((block) => {
    const fields = objectOf(block);
    const known = fields && partOf(fields);
    const isWhole = known && !known.extra;
    if (isWhole && (known.part.type === "text" || known.part.type === "data")) return known.part;
    return { type: "raw", format: FORMAT, value: block as Json };
  });
}
