import { arrayOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";
import type { OwnBlock } from "../editing/blocks.ts";
import { partsOf } from "./decode.ts";

/** A piece of a message: an item, or a block in the content of one. */
export interface ItemPiece extends OwnBlock {
  readonly item: JsonObject;
  /** True if the block is part of an item's content; otherwise it is the item itself. */
  readonly isContent: boolean;
}

/** The pieces of items in the order of their parts. */
export function piecesOf(items: readonly JsonObject[]): readonly ItemPiece[] {
  return items.flatMap((item) => {
    const isContent = (item.type ?? "message") === "message";
    const { content } = item;
    const blocks = !isContent ? [item] : typeof content === "string" ? [textOf(content)] : arrayOf(content);
    return partsOf(item).map(({ part }, index) => ({ part, block: blocks[index], item, isContent }));
  });
}

function textOf(text: string): JsonObject {
  return { type: "text", text };
}
