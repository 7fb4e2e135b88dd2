import { BoundedMap } from "../../base/bounded-map.ts";
import type { EntryQuery, StoredEntry } from "../entry-store.ts";
import { toEntryKey } from "./entry-key.ts";

const MAX_BYTES = 4 * 1024 * 1024;
/** An entry above this size would replace too many others. */
const MAX_ENTRY_BYTES = MAX_BYTES / 16;
/** Approximate memory of an entry without the bytes of its payload. */
const ENTRY_BYTES = 300;

/** The entries appended last, for the readers that follow the log. The oldest leave first. */
export class HotEntries {
  readonly #entries = new BoundedMap<number, StoredEntry>({
    max: MAX_BYTES,
    weigh: ({ payload }) => payload.byteLength + ENTRY_BYTES,
  });

  get sizeBytes(): number {
    return this.#entries.weight;
  }

  /** Keeps a copy: the caller may use its payload again, and a small one would keep a page of Node's buffer pool. */
  add(key: number, entry: StoredEntry): void {
    if (entry.payload.byteLength > MAX_ENTRY_BYTES) return;
    this.#entries.set(key, { ...entry, payload: new Uint8Array(entry.payload) });
  }

  get(sessionNumber: number, seq: number): StoredEntry | undefined {
    return this.#entries.get(toEntryKey(sessionNumber, seq));
  }

  /** The entries of a query whose range ends at or before the head; undefined unless all are here. */
  read(sessionNumber: number, query: EntryQuery): StoredEntry[] | undefined {
    const { from, to, limit, order, kinds } = query;
    const keyOf = (seq: number) => toEntryKey(sessionNumber, seq);
    // A search for kinds may walk the whole range; it is not begun if its end is missing.
    if (kinds && from <= to && !(this.#entries.has(keyOf(from)) && this.#entries.has(keyOf(to))))
      return undefined;
    const found: StoredEntry[] = [];
    const step = order === "ascending" ? 1 : -1;
    for (let seq = step > 0 ? from : to; seq >= from && seq <= to && found.length < limit; seq += step) {
      const entry = this.#entries.get(keyOf(seq));
      if (!entry) return undefined;
      if (!kinds || kinds.includes(entry.kind)) found.push(entry);
    }
    return found;
  }

  clear(): void {
    this.#entries.clear();
  }
}
