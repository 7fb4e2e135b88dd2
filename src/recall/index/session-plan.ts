import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore, StoredEntry } from "../../log/store/entry-store.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import type { EntryText } from "./entry-texts.ts";
import type { IndexedText } from "./turn-chunks.ts";

/** The reply to a call that adds one item. */
const CREATED = /^Task #(\d+) created successfully: (.+)/;
const MAX_ITEMS = 1_000;
const MAX_ITEM_CHARACTERS = 500;
/** Entries before the first new one that are searched for an item. */
const MAX_EARLIER = 2_000;

/** The items of a session's plan by number, for calls that name an item by its number only. */
export class SessionPlan {
  readonly #entries: EntryStore;
  readonly #session: SessionId;
  readonly #items = new Map<string, string>();
  /** Entries up to this seq have not been read; 0 if there are none. */
  #unreadTo: number;

  /** `cursor`: the seq up to which the session is already indexed. */
  constructor(entries: EntryStore, session: SessionId, cursor: number) {
    this.#entries = entries;
    this.#session = session;
    this.#unreadTo = cursor;
  }

  /** Notes the items that the tool results of a message report as created. */
  note({ role, parts }: Message): void {
    if (role !== "tool") return;
    for (const part of parts) {
      const output = part.type === "tool-result" ? part.output[0] : undefined;
      const [, id, text] = (output?.type === "text" && CREATED.exec(output.text)) || [];
      if (id === undefined || text === undefined || this.#items.size >= MAX_ITEMS) continue;
      this.#items.set(id, text.slice(0, MAX_ITEM_CHARACTERS));
    }
  }

  /** The texts, with the item that a text names by its number. */
  async resolve(texts: readonly EntryText[]): Promise<IndexedText[]> {
    const resolved: IndexedText[] = [];
    for (const { activeId, ...text } of texts) {
      const about = activeId === undefined ? undefined : await this.#find(activeId);
      resolved.push(about === undefined ? text : { ...text, about });
    }
    return resolved;
  }

  async #find(id: string): Promise<string | undefined> {
    if (!this.#items.has(id) && this.#unreadTo > 0) await this.#readEarlier();
    return this.#items.get(id);
  }

  /** Reads the entries that an earlier run has indexed. */
  async #readEarlier(): Promise<void> {
    const to = this.#unreadTo;
    this.#unreadTo = 0;
    const newer = new Map(this.#items);
    const range = { from: Math.max(1, to - MAX_EARLIER), to, limit: MAX_EARLIER };
    const kinds = ["message"] as const;
    for (const stored of await this.#entries.read(this.#session, { ...range, order: "ascending", kinds }))
      this.#noteStored(stored);
    for (const [id, text] of newer) this.#items.set(id, text);
  }

  #noteStored(stored: StoredEntry): void {
    try {
      const entry = toEntry(this.#session, stored);
      if (entry.kind === "message") this.note(entry.message);
    } catch (error) {
      if (!isLonghaulError(error, "STORE_CORRUPT")) throw error;
    }
  }
}
