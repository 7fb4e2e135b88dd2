import type { MemoryStore, SourceKind } from "../log/store/memory-store.ts";

const PAGE = 1_000;
/** A store with more sources of a kind is read again for each recall. */
const MAX_SOURCES = 200_000;

/**
 * The numbers of indexed sources by name. Numbers grow and are never used twice, so only sources after the last known
 * one are read; the number of a removed source matches nothing.
 */
export class SourceNumbers {
  readonly #store: MemoryStore;
  readonly #kind: SourceKind;
  #numbers = new Map<string, number>();
  #last = 0;

  constructor(store: MemoryStore, kind: SourceKind) {
    this.#store = store;
    this.#kind = kind;
  }

  /** All sources of the kind. The map belongs to this object. */
  async read(): Promise<ReadonlyMap<string, number>> {
    if (this.#numbers.size > MAX_SOURCES) this.clear();
    for (;;) {
      const page = await this.#store.sources({ kind: this.#kind, after: this.#last, limit: PAGE });
      for (const { name, number } of page) this.#numbers.set(name, number);
      this.#last = page.at(-1)?.number ?? this.#last;
      if (page.length < PAGE) return this.#numbers;
    }
  }

  clear(): void {
    this.#numbers = new Map();
    this.#last = 0;
  }
}
