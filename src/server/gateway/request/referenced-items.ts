import { BoundedMap } from "../../../model/base/caches.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { PersonIds } from "../identity/person-ids.ts";

/** Maximum number and total bytes of the items in memory. */
interface ItemBounds {
  readonly items: number;
  readonly itemBytes: number;
}

/** Bytes of an item's name and table entry. */
const BYTES_PER_ITEM = 200;

/** Finds items in the log, for references to replies that this process has not relayed. */
type FindStoredItems = (person: PersonIds, ids: Iterable<string>) => Promise<readonly WireObject[]>;

/**
 * Items of replies that clients refer to by id instead of repeating them, because the provider stores them. Only the
 * latest are kept in memory; a reference that the log does not know either is left as it is.
 */
export class ReferencedItems {
  readonly #bounds: () => ItemBounds;
  /** Items as JSON, which takes a third of the memory of objects; most recent last. */
  readonly #items: BoundedMap<string, string>;
  /** Ids that the log does not know; the items of a reply are in the log before its client knows their ids. */
  readonly #unknown: BoundedMap<string, true>;
  readonly #findStored: FindStoredItems;

  constructor(bounds: () => ItemBounds, findStored: FindStoredItems = async () => []) {
    this.#bounds = bounds;
    this.#findStored = findStored;
    this.#unknown = new BoundedMap({ max: () => bounds().items });
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

  /** Reads items into memory; false if none of them is in the log. */
  async load(person: PersonIds, ids: Iterable<string>): Promise<boolean> {
    const keyOf = (id: string) => `${person.id} ${id}`;
    const sought = [...ids].filter((id) => !this.#unknown.get(keyOf(id)));
    if (sought.length === 0) return false;
    const items = await this.#findStored(person, sought);
    this.add(person.id, items);
    const found = new Set(items.map(({ id }) => id));
    for (const id of sought) if (!found.has(id)) this.#unknown.set(keyOf(id), true);
    return items.length > 0;
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
