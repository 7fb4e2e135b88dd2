import type { StoredEntry } from "../../entry-store.ts";
import { MAX_SEQ } from "../../seq-limit.ts";
import type { Database } from "../database.ts";
import { seqOfKey, toEntryKey } from "../entry-key.ts";
import { DamagedPageReader, isDamagedPage, toStored } from "../read-around-damage.ts";

/** Seqs that are tried one by one when neither end of a session can be read further. */
const MAX_TRIED = 1_000_000;
const MAX_TRIED_AT_END = 10_000;
const BATCH = 256;

/** The entries of one session in order, read around damaged pages; lost entries are returned as damaged. */
export function* salvageEntries(db: Database, session: number): Generator<StoredEntry> {
  const reader = new DamagedPageReader(db);
  let next = 1;
  for (;;) {
    const page = tryReadPage(db, "ASC", session, next, MAX_SEQ, BATCH);
    if (page === "damaged") break;
    for (const stored of page) {
      yield* lostBefore(stored.seq);
      next = stored.seq + 1;
      yield stored;
    }
    if (page.length < BATCH) return;
  }
  const last = tryReadPage(db, "DESC", session, next, MAX_SEQ, 1);
  const end = last === "damaged" ? next + MAX_TRIED_AT_END : (last[0]?.seq ?? next - 1);
  for (let seq = next; seq <= Math.min(end, next + MAX_TRIED); seq++) {
    const stored = reader.get(session, seq);
    // After the last known entry, a seq on a damaged page may never have been assigned.
    if (!stored || (last === "damaged" && stored.kind === "damaged")) continue;
    yield* lostBefore(stored.seq);
    next = stored.seq + 1;
    yield stored;
  }

  function* lostBefore(seq: number): Generator<StoredEntry> {
    for (; next < seq; next++) yield { seq: next, at: 0, kind: "damaged", payload: new Uint8Array(0) };
  }
}

/** Numbers of sessions that have entries, even if the sessions table has lost them. */
export function findSessionNumbers(db: Database): number[] {
  const numbers: number[] = [];
  const first = db.prepare("SELECT key FROM entries WHERE key >= ? ORDER BY key LIMIT 1");
  for (let session = 1; ; ) {
    try {
      const row = first.get(toEntryKey(session, 0));
      if (!row) return numbers;
      const found = (row.key as number) - seqOfKey(row.key as number);
      session = found / toEntryKey(1, 0);
      numbers.push(session);
      session++;
    } catch (error) {
      if (!isDamagedPage(error)) throw error;
      return numbers;
    }
  }
}

function tryReadPage(
  db: Database,
  order: "ASC" | "DESC",
  session: number,
  from: number,
  to: number,
  limit: number,
): StoredEntry[] | "damaged" {
  try {
    const sql = `SELECT key, at, kind, payload FROM entries WHERE key BETWEEN ? AND ? ORDER BY key ${order} LIMIT ?`;
    return db
      .prepare(sql)
      .all(toEntryKey(session, from), toEntryKey(session, to), limit)
      .map((row) => toStored(row));
  } catch (error) {
    if (isDamagedPage(error)) return "damaged";
    throw error;
  }
}
