import { BoundedMap } from "../../base/bounded-map.ts";
import type { WireObject } from "../../wire/wire.ts";

/** Maximum number and total bytes of the items in memory. */
interface ItemBounds {
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
  readonly #items: BoundedMap<string, string>;

  constructor(bounds: () => ItemBounds) {
    this.#bounds = bounds;
    this.#items = new BoundedMap({ max: () => bounds().itemBytes, weigh: weightOf });
  }

  get size(): number {
    return this.#items.size;
  }

  /** Approximate memory of the items. */
  get sizeBytes(): number {
    return this.#items.weight;
  }

  add(principal: string, items: readonly WireObject[]): void {
    for (const item of items) {
      if (typeof item.id !== "string") continue;
      this.#items.set(`${principal} ${item.id}`, JSON.stringify(item));
    }
    while (this.#items.size > this.#bounds().items) this.#items.takeOldest();
  }

  find(principal: string, id: string): WireObject | undefined {
    const json = this.#items.get(`${principal} ${id}`);
    return json === undefined ? undefined : JSON.parse(json);
  }
}

/** Counts two bytes per character, which V8 uses for strings beyond Latin-1. */
function weightOf(json: string): number {
  return BYTES_PER_ITEM + 2 * json.length;
}
