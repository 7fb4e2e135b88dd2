import type { Json } from "../../index.ts";
import { toArray } from "../content/fields.ts";

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
  readonly #entries = new Map<string, RecentEntry>();
  #last: string | undefined;

  constructor(saved?: Json) {
    for (const entry of toArray(saved)) {
      const [id, callId] = toArray(entry);
      if (typeof id === "string") this.add(id, typeof callId === "string" ? callId : undefined);
    }
    // The saved entries may begin in the middle of the file.
    const [first] = this.#entries.keys();
    if (first !== undefined) this.#entries.set(first, { before: undefined, callId: this.findCallId(first) });
  }

  /** The newest entry; undefined before the first one. */
  get last(): string | undefined {
    return this.#last;
  }

  add(id: string, callId?: string): void {
    this.#entries.set(id, { before: this.#last ?? null, callId });
    this.#last = id;
    if (this.#entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as string);
  }

  /** Returns the entry before another one: null if there is none, undefined if it is unknown. */
  findEntryBefore(id: string): string | null | undefined {
    return this.#entries.get(id)?.before;
  }

  findCallId(id: string): string | undefined {
    return this.#entries.get(id)?.callId;
  }

  toJSON(): Json {
    return [...this.#entries].map(([id, { callId }]) => (callId === undefined ? [id] : [id, callId]));
  }
}
