import type { Json, PartInput, ToolResultInput } from "../../index.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { arrayOf, fieldsBesides, objectOf } from "./fields.ts";

/** Fields of blocks that our parts have no place for, by index of the block; kept in a message's meta as `extras`. */
export type Extras = { readonly [index: string]: { readonly [field: string]: Json } };

/** Foreign content as parts, one for each block in their order. */
export interface Content {
  readonly parts: readonly PartInput[];
  readonly extras?: Extras;
}

/** A block that is understood. */
export interface KnownPart {
  readonly part: PartInput;
  /** Fields of the block that the part holds. */
  readonly fields: readonly string[];
}

/** Understands the blocks of one dialect. */
export type PartOfBlock = (block: JsonObject) => KnownPart | undefined;

/** Parts of content that is a string or blocks. Blocks that are not understood become raw parts of `format`. */
export function contentOf(content: unknown, format: string, partOfBlock: PartOfBlock): Content {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const parts: PartInput[] = [];
  const extras: [string, { readonly [field: string]: Json }][] = [];
  for (const [index, block] of arrayOf(content).entries()) {
    const fields = objectOf(block);
    const known = fields && partOfBlock(fields);
    parts.push(known?.part ?? { type: "raw", format, value: block as Json });
    const extra = known && fields && fieldsBesides(fields, known.fields);
    if (extra) extras.push([String(index), extra]);
  }
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

/** The output of a tool result: a string, or blocks of text and media. Blocks with more to them stay raw. */
export function outputIn(
  content: unknown,
  format: string,
  partOfBlock: PartOfBlock,
): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  return arrayOf(content).map((block) => {
    const fields = objectOf(block);
    const known = fields && partOfBlock(fields);
    const isWhole = known && fields && !fieldsBesides(fields, known.fields);
    if (isWhole && (known.part.type === "text" || known.part.type === "data")) return known.part;
    return { type: "raw", format, value: block as Json };
  });
}
