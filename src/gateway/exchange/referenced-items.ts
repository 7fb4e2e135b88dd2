import type { JsonObject } from "../api/api.ts";

const MOST_ITEMS = 20_000;
/** Maximum total size. */
const MOST_CHARACTERS = 16_000_000;

interface Kept {
  readonly item: JsonObject;
  readonly characters: number;
}

/**
 * Items of replies that clients refer to by id instead of repeating them, because the provider stores them. Only the
 * latest are kept; an unknown reference is left as it is.
 */
export class ReferencedItems {
  /** Most recently added last. */
  readonly #items = new Map<string, Kept>();
  #characters = 0;

  note(principal: string, items: readonly JsonObject[]): void {
    for (const item of items) {
      if (typeof item.id !== "string") continue;
      const name = `${principal} ${item.id}`;
      this.#drop(name);
      const characters = JSON.stringify(item).length;
      this.#items.set(name, { item, characters });
      this.#characters += characters;
    }
    for (const name of this.#items.keys()) {
      if (this.#items.size <= MOST_ITEMS && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(name);
    }
  }

  find(principal: string, id: string): JsonObject | undefined {
    return this.#items.get(`${principal} ${id}`)?.item;
  }

  #drop(name: string): void {
    this.#characters -= this.#items.get(name)?.characters ?? 0;
    this.#items.delete(name);
  }
}
