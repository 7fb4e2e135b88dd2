import type { Json } from "../../kernel/index.ts";
import { BoundedMap } from "../../model/base/caches.ts";
import { toArray } from "../../wire/fields.ts";

interface RecentEntry {
  /** The previous entry in the file: null if there is none, undefined if it is no longer known. */
  readonly before: string | null | undefined;
  readonly callId: string | undefined;
}

/**
 * Maximum entries to remember. Targets of compactions and edits are within the last context window, which holds far
 * fewer.
 */
const MAX_ENTRIES = 1024;

/** The latest entries of a file, with their order and the tool calls they answer. */
export class RecentEntries {
  readonly #entries = new BoundedMap<string, RecentEntry>({ max: MAX_ENTRIES });
  #last: string | undefined;

  constructor(saved?: Json) {
    for (const entry of toArray(saved)) {
      const [id, callId] = toArray(entry);
      // The saved entries may begin in the middle of the file.
      const before = this.#last;
      if (typeof id === "string") this.#set(id, before, typeof callId === "string" ? callId : undefined);
    }
  }

  /** The newest entry; undefined before the first one. */
  get last(): string | undefined {
    return this.#last;
  }

  add(id: string, callId?: string): void {
    this.#set(id, this.#last ?? null, callId);
  }

  /** Returns the entry before another one: null if there is none, undefined if it is unknown. */
  findEntryBefore(id: string): string | null | undefined {
    return this.#entries.get(id)?.before;
  }

  findCallId(id: string): string | undefined {
    return this.#entries.get(id)?.callId;
  }

  #set(id: string, before: string | null | undefined, callId: string | undefined): void {
    this.#entries.set(id, { before, callId });
    this.#last = id;
  }

  toJSON(): Json {
    return [...this.#entries].map(([id, { callId }]) => (callId === undefined ? [id] : [id, callId]));
  }
}
