import { type EntryQuery, type StoredEntry, toKind } from "../../log/store/entry-store.ts";
import type { Database, Row } from "./database.ts";
import { seqOfKey, toEntryKey } from "./entry-key.ts";
import { resultCodeOf } from "./store-error.ts";

const SQLITE_CORRUPT = 11;
const NO_BYTES = new Uint8Array(0);

/** Whether SQLite hit a damaged page. */
export function isDamagedPage(error: unknown): boolean {
  return resultCodeOf(error) === SQLITE_CORRUPT;
}

/** Converts a row to an entry; an unknown kind number makes it damaged. */
export function toStored(row: Row): StoredEntry {
  const { key, at, kind, payload } = row;
  return {
    seq: seqOfKey(key as number),
    // A flipped bit can also change the type of a value.
    at: typeof at === "number" ? at : 0,
    kind: toKind(kind as number) ?? "damaged",
    payload: payload instanceof Uint8Array ? payload : NO_BYTES,
  };
}

/** Reads entries one by one where a damaged page fails a larger read, so that only entries on that page are damaged. */
export class DamagedPageReader {
  readonly #whole;
  readonly #head;

  constructor(db: Database) {
    this.#whole = db.prepare("SELECT key, at, kind, payload FROM entries WHERE key = ?");
    this.#head = db.prepare("SELECT key, at, kind FROM entries WHERE key = ?");
  }

  /** The entries of a query whose bounds lie within the session. */
  read(session: number, { from, to, limit, order, kinds }: EntryQuery): StoredEntry[] {
    const found: StoredEntry[] = [];
    const step = order === "ascending" ? 1 : -1;
    for (let seq = step > 0 ? from : to; seq >= from && seq <= to && found.length < limit; seq += step) {
      const entry = this.get(session, seq);
      if (!entry) continue;
      // The kind of an unreadable entry is unknown, so it may be a requested one.
      if (!kinds || kinds.includes(entry.kind) || entry.kind === "damaged") found.push(entry);
    }
    return found;
  }

  /**
   * Reads one entry, damaged if it lies on a damaged page; its payload may lie on other pages than its kind and time.
   */
  get(session: number, seq: number): StoredEntry | undefined {
    const key = toEntryKey(session, seq);
    const row = tryRead(() => this.#whole.get(key));
    if (row !== DAMAGED) return row && toStored(row);
    const head = tryRead(() => this.#head.get(key));
    if (head === DAMAGED) return { seq, at: 0, kind: "damaged", payload: NO_BYTES };
    return head && toStored({ ...head, payload: NO_BYTES });
  }
}

/**
 * Entries of a session have all numbers up to its head. Where a damaged page of the tree hides some without an error, they
 * are shown as damaged instead of left out.
 */
export function fillGaps(found: StoredEntry[], { from, to, limit, order }: EntryQuery): StoredEntry[] {
  const expected = Math.min(limit, to - from + 1);
  const lastSeq = order === "ascending" ? from + expected - 1 : to - expected + 1;
  if (found.length === expected && found.at(-1)?.seq === lastSeq) return found;
  const bySeq = new Map(found.map((entry) => [entry.seq, entry]));
  return Array.from({ length: expected }, (_, index): StoredEntry => {
    const seq = order === "ascending" ? from + index : to - index;
    return bySeq.get(seq) ?? { seq, at: 0, kind: "damaged", payload: NO_BYTES };
  });
}

const DAMAGED = Symbol("damaged");

function tryRead(read: () => Row | undefined): Row | undefined | typeof DAMAGED {
  try {
    return read();
  } catch (error) {
    if (isDamagedPage(error)) return DAMAGED;
    throw error;
  }
}
