import { buildContent } from "../editing/client-blocks.ts";
import type { WireObject } from "../wire.ts";

/** A list of items under construction. */
interface ItemListBuilder {
  /** Adds an item; `own` is the client's item that it was made from. */
  addItem(item: WireObject, own: WireObject | undefined): void;
  /** Adds a block to the content of the client's item, or to the message under construction. */
  addBlock(block: unknown, own: WireObject | undefined): void;
  end(): readonly WireObject[];
}

/**
 * Builds items: blocks of one item stay together, others become a message of `role`. Items in `unbound` lose their id.
 */
export function createItemListBuilder(role: string, unbound: ReadonlySet<WireObject>): ItemListBuilder {
  const items: WireObject[] = [];
  let open: { readonly own: WireObject | undefined; readonly blocks: unknown[] } | undefined;
  const push = (item: WireObject, own: WireObject | undefined) => {
    const { id: _, ...rest } = item;
    items.push(own && unbound.has(own) ? rest : item);
  };
  const close = () => {
    if (!open) return;
    const { own, blocks } = open;
    open = undefined;
    if (own) push({ ...own, content: buildContent(own.content, blocks, true) }, own);
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
