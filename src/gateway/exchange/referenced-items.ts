import type { JsonObject } from "../api/api.ts";

const MOST_ITEMS = 20_000;
/** Most characters of them together. */
const MOST_CHARACTERS = 16_000_000;

interface Kept {
  readonly item: JsonObject;
  readonly characters: number;
}

/**
 * Items of replies that clients name by their id instead of saying them again, for the provider keeps them. Only what was
 * said last is held: a name that is not known here is taken as it stands.
 */
export class ReferencedItems {
  /** Named last comes last. */
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
