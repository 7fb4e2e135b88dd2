import type { JsonObject } from "../api.ts";
import { contentOf } from "../editing/blocks.ts";

/** Items in the making. */
export interface ItemList {
  /** Adds an item; `own` is the client's that it was made from. */
  addItem(item: JsonObject, own: JsonObject | undefined): void;
  /** Adds a block to the content of the client's item, or to whatever is being said. */
  addBlock(block: unknown, own: JsonObject | undefined): void;
  end(): readonly JsonObject[];
}

/** Puts items together: blocks of one item stay together, others become a message of `role`. `unbound` items lose their id. */
export function itemList(role: string, unbound: ReadonlySet<JsonObject>): ItemList {
  const items: JsonObject[] = [];
  let open: { readonly own: JsonObject | undefined; readonly blocks: unknown[] } | undefined;
  const push = (item: JsonObject, own: JsonObject | undefined) => {
    const { id: _, ...rest } = item;
    items.push(own && unbound.has(own) ? rest : item);
  };
  const close = () => {
    if (!open) return;
    const { own, blocks } = open;
    open = undefined;
    if (own) push({ ...own, content: contentOf(own.content, blocks, true) }, own);
    else push({ type: "message", role, content: blocks }, undefined);
  };
  return {
    addItem(item, own) {
      close();
      push(item, own);
    },
    addBlock(block, own) {
      if (!open || (own && open.own !== own)) {
        close();
        open = { own, blocks: [] };
      }
      open.blocks.push(block);
    },
    end() {
      close();
      return items;
    },
  };
}
