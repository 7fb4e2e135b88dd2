import type { WireObject } from "../api/api.ts";

/** Maximum number and total bytes of the items in memory. */
export interface ItemBounds {
  readonly items: number;
  readonly itemBytes: number;
}

/** Bytes of an item's name and table entry. */
const BYTES_PER_ITEM = 200;

/**
 * Items of replies that clients refer to by id instead of repeating them, because the provider stores them. Only the
 * latest are kept; an unknown reference is left as it is.
 */
export class ReferencedItems {
  readonly #bounds: () => ItemBounds;
  /** Items as JSON, which takes a third of the memory of objects; most recent last. */
  readonly #items = new Map<string, string>();
  #sizeBytes = 0;

  constructor(bounds: () => ItemBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Approximate memory of the items. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(principal: string, items: readonly WireObject[]): void {
    for (const item of items) {
      if (typeof item.id !== "string") continue;
      const name = `${principal} ${item.id}`;
      this.#drop(name);
      const json = JSON.stringify(item);
      this.#items.set(name, json);
      this.#sizeBytes += weightOf(json);
    }
    const { items: most, itemBytes } = this.#bounds();
    for (const name of this.#items.keys()) {
      if (this.#items.size <= most && this.#sizeBytes <= itemBytes) return;
      this.#drop(name);
    }
  }

  find(principal: string, id: string): WireObject | undefined {
    const json = this.#items.get(`${principal} ${id}`);
    return json === undefined ? undefined : JSON.parse(json);
  }

  #drop(name: string): void {
    const json = this.#items.get(name);
    if (json === undefined) return;
    this.#sizeBytes -= weightOf(json);
    this.#items.delete(name);
  }
}

/** Counts two bytes per character, which V8 uses for strings beyond Latin-1. */
function weightOf(json: string): number {
  return BYTES_PER_ITEM + 2 * json.length;
}
