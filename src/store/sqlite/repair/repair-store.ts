import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";
import type { Digest } from "../../../model/blob.ts";
import { type EntryKind, formatEntryId } from "../../../model/entry.ts";
import { createArgumentError } from "../../../model/errors.ts";
import type { StoredEntry } from "../../entry-store.ts";
import { toKindNumber } from "../../kind-numbers.ts";
import { toDigestBytes } from "../blob-refs.ts";
import { connectDatabase } from "../connect-database.ts";
import { connectReadOnly, copyDatabase } from "../connect-read-only.ts";
import type { Database, Row } from "../database.ts";
import { toEntryKey } from "../entry-key.ts";
import { toStoreError } from "../store-error.ts";
import { salvageBlobs } from "./salvage-blobs.ts";
import { findSessionNumbers, salvageEntries } from "./salvage-entries.ts";
import { salvageRows } from "./salvage-rows.ts";

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
        kind: toKindNumber(mended.kind),
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
