import type { ClientBlock } from "../editing/client-blocks.ts";
import { toArray } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { decodeItemParts } from "./decode-responses.ts";

/** A piece of a message: an item, or a block in the content of one. */
export interface ItemPiece extends ClientBlock {
  readonly item: WireObject;
  /** True if the block is part of an item's content; otherwise it is the item itself. */
  readonly isContent: boolean;
}

/** The pieces of items in the order of their parts. */
export function splitItems(items: readonly WireObject[]): readonly ItemPiece[] {
  return items.flatMap((item) => {
    const isContent = (item.type ?? "message") === "message";
    const { content } = item;
    const blocks = !isContent
      ? [item]
      : typeof content === "string"
        ? [buildTextBlock(content)]
        : toArray(content);
    return decodeItemParts(item).map(({ part }, index) => ({ part, block: blocks[index], item, isContent }));
  });
}

function buildTextBlock(text: string): WireObject {
  return { type: "text", text };
}
