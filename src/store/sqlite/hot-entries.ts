import { BoundedMap } from "../../base/bounded-map.ts";
import type { EntryQuery, StoredEntry } from "../entry-store.ts";
import { toEntryKey } from "./entry-key.ts";

const MAX_BYTES = 4 * 1024 * 1024;
/** An entry above this size would replace too many others. */
const MAX_ENTRY_BYTES = MAX_BYTES / 16;
/** Least weight of an entry: a small payload may keep the page of Node's buffer pool that it lies in. */
const MIN_ENTRY_BYTES = 1_024;

/** The entries appended last, for the readers that follow the log. The oldest leave first. */
export class HotEntries {
  readonly #entries = new BoundedMap<number, StoredEntry>({
    max: MAX_BYTES,
    weigh: ({ payload }) => Math.max(payload.byteLength, MIN_ENTRY_BYTES),
  });

  get sizeBytes(): number {
    return this.#entries.weight;
  }

  add(key: number, entry: StoredEntry): void {
    if (entry.payload.byteLength <= MAX_ENTRY_BYTES) this.#entries.set(key, entry);
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
