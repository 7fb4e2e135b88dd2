import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import { KIND_NUMBERS, MAX_SEQ, type StoredEntry } from "../../../log/store/entry-store.ts";
import type { Digest } from "../../../model/blob.ts";
import { type EntryKind, formatEntryId } from "../../../model/entry.ts";
import { createArgumentError } from "../../../model/errors.ts";
import { BlobFiles } from "../blob-files.ts";
import { toDigestBytes } from "../blob-refs.ts";
import { connectDatabase } from "../connect-database.ts";
import { connectReadOnly, copyDatabase } from "../connect-read-only.ts";
import type { Database, Row } from "../database.ts";
import { seqOfKey, toEntryKey } from "../entry-key.ts";
import { DamagedPageReader, isDamagedPage, toStored } from "../read-around-damage.ts";
import { toStoreError } from "../store-error.ts";

/** An entry as written to the new store. */
interface MendedEntry {
  readonly kind: EntryKind;
  readonly payload: Uint8Array;
  readonly blobs: readonly Digest[];
}

/** Options of a repair. */
interface RepairOptions {
  /** Folder of the damaged store, which is only read. */
  readonly from: string;
  /** Folder of the new store; created if missing, must be empty. */
  readonly to: string;
  /** Converts an entry for writing: a damaged entry becomes one of kind "damaged". */
  readonly mend: (entry: StoredEntry) => MendedEntry;
}

/** Result of a repair. */
export interface RepairReport {
  readonly sessions: number;
  readonly entries: number;
  readonly damagedEntries: readonly string[];
  readonly blobs: number;
  readonly damagedBlobs: readonly Digest[];
  /** Tables with rows that could not be read. */
  readonly incompleteTables: readonly string[];
}

/** Tables that are copied verbatim, with their row order. */
const TABLES = [
  ["sessions", "number"],
  ["drafts", "number"],
  ["intakes", "number"],
  ["intake_records", "intake, record"],
  ["tasks", "number"],
  ["people", "name"],
  ["person_tokens", "digest"],
  ["budgets", "id"],
  ["budget_uses", "budget, start"],
  ["audit", "seq"],
  ["places", "key, entry"],
  ["leases", "name"],
  ["ledger", "kind, id"],
] as const;
const ROWS_PER_STEP = 500;

/** Copies everything readable of a damaged store into a new one; ids, numbers and times are kept. */
export async function repairSqliteStore({ from, to, mend }: RepairOptions): Promise<RepairReport> {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw createArgumentError("out", to, "an empty or new folder");
  const { database: source, dispose } = await connectReadOnly(join(from, "log.db"), 5_000);
  try {
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const target = await connectDatabase(join(to, "log.db"), { durability: "process", busyTimeoutMs: 5_000 });
    try {
      const repaired = await new Repair(source, target, mend).run(join(from, "blobs"), join(to, "blobs"));
      if (existsSync(join(from, "memory.db"))) copyDatabase(join(from, "memory.db"), to);
      return repaired;
    } finally {
      target.close();
    }
  } catch (error) {
    throw toStoreError(error, from);
  } finally {
    source.close();
    dispose();
  }
}

class Repair {
  readonly #source: Database;
  readonly #target: Database;
  readonly #mend: RepairOptions["mend"];
  readonly #incomplete = new Set<string>();

  constructor(source: Database, target: Database, mend: RepairOptions["mend"]) {
    this.#source = source;
    this.#target = target;
    this.#mend = mend;
  }

  async run(fromBlobs: string, toBlobs: string): Promise<RepairReport> {
    const blobs = await salvageBlobs(fromBlobs, toBlobs);
    await this.#target.exec("PRAGMA foreign_keys = OFF");
    await this.#insert(
      "blobs",
      [...blobs.copied].map(([digest, size]) => ({ digest: toDigestBytes(digest), size_bytes: size })),
    );
    for (const [table, key] of TABLES) await this.#insert(table, this.#rows(table, key));
    const names = await this.#sessionNames();
    let entries = 0;
    const damagedEntries: string[] = [];
    for (const [number, name] of names) {
      for await (const { stored, mended } of this.#copyEntries(number, blobs.copied)) {
        entries++;
        if (mended.kind === "damaged") damagedEntries.push(formatEntryId(name, stored.seq));
      }
    }
    const { copied, damaged: damagedBlobs } = blobs;
    const incompleteTables = [...this.#incomplete];
    return {
      sessions: names.size,
      entries,
      damagedEntries,
      blobs: copied.size,
      damagedBlobs,
      incompleteTables,
    };
  }

  /** The rows of a table, without columns that this version has dropped. */
  #rows(table: string, key: string): Row[] {
    const rows = salvageRows(this.#source, table, key, (name) => this.#incomplete.add(name));
    const columns = this.#target.prepare("SELECT name FROM pragma_table_info(?)").all(table);
    const names = new Set(columns.map(({ name }) => name));
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name))));
  }

  /** Session ids by number; sessions whose row is lost get a new id. */
  async #sessionNames(): Promise<ReadonlyMap<number, string>> {
    const rows = this.#target.prepare("SELECT number, id FROM sessions WHERE id IS NOT NULL").all();
    const names = new Map(rows.map((row) => [row.number as number, row.id as string]));
    const deleted = this.#target.prepare("SELECT 1 FROM sessions WHERE number = ?");
    const lost = findSessionNumbers(this.#source).filter(
      (number) => !names.has(number) && !deleted.get(number),
    );
    for (const number of lost) names.set(number, `recovered-${number}`);
    const made = lost.map((number) => ({ number, id: `recovered-${number}`, created_at: 0, line_seq: 0 }));
    await this.#insert("sessions", made);
    return names;
  }

  async *#copyEntries(session: number, blobs: ReadonlyMap<Digest, number>) {
    let at = 0;
    const batch: { stored: StoredEntry; mended: MendedEntry; at: number }[] = [];
    for (const stored of salvageEntries(this.#source, session)) {
      at = Math.max(at, stored.at);
      batch.push({ stored, mended: this.#mend(stored), at });
      if (batch.length < ROWS_PER_STEP) continue;
      yield* await this.#writeEntries(session, batch.splice(0), blobs);
    }
    yield* await this.#writeEntries(session, batch, blobs);
  }

  async #writeEntries(
    session: number,
    batch: readonly { readonly stored: StoredEntry; readonly mended: MendedEntry; readonly at: number }[],
    blobs: ReadonlyMap<Digest, number>,
  ) {
    const keyOf = ({ seq }: StoredEntry) => toEntryKey(session, seq);
    await this.#insert(
      "entries",
      batch.map(({ stored, mended, at }) => ({
        key: keyOf(stored),
        at,
        kind: KIND_NUMBERS[mended.kind],
        payload: mended.payload,
      })),
    );
    const refs = batch.flatMap(({ stored, mended }) =>
      mended.blobs
        .filter((digest) => blobs.has(digest))
        .map((digest) => ({ owner: keyOf(stored), digest: toDigestBytes(digest) })),
    );
    await this.#insert("blob_refs", refs);
    return batch;
  }

  async #insert(table: string, rows: readonly Readonly<Record<string, SQLInputValue>>[]): Promise<void> {
    for (let from = 0; from < rows.length; from += ROWS_PER_STEP) {
      await this.#target.transact(() => {
        for (const row of rows.slice(from, from + ROWS_PER_STEP)) {
          const columns = Object.keys(row);
          const sql = `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
          this.#target.prepare(sql).run(...Object.values(row));
        }
      });
    }
  }
}

/** Copied blobs with their sizes, and blobs whose files are damaged. */
interface SalvagedBlobs {
  readonly copied: ReadonlyMap<Digest, number>;
  readonly damaged: readonly Digest[];
}

/** Copies every blob file whose bytes match its digest. */
async function salvageBlobs(from: string, to: string): Promise<SalvagedBlobs> {
  const source = new BlobFiles(from, true);
  const target = new BlobFiles(to);
  const copied = new Map<Digest, number>();
  const damaged: Digest[] = [];
  for await (const digests of source.digests()) {
    for (const digest of digests) {
      const staged = await target.stage(source.read(digest), digest, { maxBytes: Number.MAX_SAFE_INTEGER });
      if (staged.digest === digest) {
        target.settle(staged);
        copied.set(digest, staged.sizeBytes);
      } else {
        target.drop(staged);
        damaged.push(digest);
      }
    }
  }
  return { copied, damaged };
}

/**
 * Rows of a small table, read from both ends as far as damaged pages allow; calls `onLoss` if some could not be read.
 */
function salvageRows(source: Database, table: string, key: string, onLoss: (table: string) => void): Row[] {
  const rows = new Map<string, Row>();
  const isWhole = collectRows(source, `SELECT * FROM ${table} ORDER BY ${buildOrder(key, "ASC")}`, key, rows);
  if (isWhole) return [...rows.values()];
  collectRows(source, `SELECT * FROM ${table} ORDER BY ${buildOrder(key, "DESC")}`, key, rows);
  onLoss(table);
  return [...rows.values()];
}

function buildOrder(key: string, direction: "ASC" | "DESC"): string {
  return key
    .split(", ")
    .map((column) => `${column} ${direction}`)
    .join(", ");
}

function collectRows(source: Database, sql: string, key: string, rows: Map<string, Row>): boolean {
  try {
    for (const row of source.prepare(sql).iterate() as Iterable<Row>) {
      const name = key.split(", ").map((column) => toKeyText(row[column]));
      rows.set(name.join(" "), row);
    }
    return true;
  } catch (error) {
    if (isDamagedPage(error)) return false;
    throw error;
  }
}

function toKeyText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}

/** Seqs that are tried one by one when neither end of a session can be read further. */
const MAX_TRIED = 1_000_000;
const MAX_TRIED_AT_END = 10_000;
const BATCH = 256;

/** The entries of one session in order, read around damaged pages; lost entries are returned as damaged. */
function* salvageEntries(db: Database, session: number): Generator<StoredEntry> {
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
function findSessionNumbers(db: Database): number[] {
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
