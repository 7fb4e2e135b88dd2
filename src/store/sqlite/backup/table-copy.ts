import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { throwIfAborted } from "../../../model/errors.ts";

const ROWS_PER_STEP = 20_000;
const QUOTE = /"/g;

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Copies one database into a new file, as of the moment of `begin`, while other connections go on writing. */
export class TableCopy {
  readonly #target: DatabaseSync;
  #tables: readonly SchemaRow[] = [];

  constructor(source: string, target: string) {
    // Created here, because SQLite would make the file readable by others.
    closeSync(openSync(target, "wx", 0o600));
    this.#target = new DatabaseSync(target);
    // The file is synced when it is complete; an incomplete copy is thrown away.
    this.#target.exec(
      "PRAGMA busy_timeout = 5000; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY",
    );
    this.#target.prepare("ATTACH ? AS source").run(source);
    this.#target.exec(`PRAGMA main.page_size = ${this.#readPragma("source.page_size")}`);
    this.#target.exec("PRAGMA main.journal_mode = OFF");
  }

  /** Fixes the state to copy: later commits of other connections stay invisible. */
  begin(): void {
    this.#target.exec("BEGIN");
    const rows = this.#target
      .prepare(
        "SELECT type, name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
      )
      .all();
    this.#tables = rows as unknown as readonly SchemaRow[];
  }

  /** Copies all tables, then their indexes. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    for (const { sql } of this.#tables.filter(({ type }) => type === "table")) this.#target.exec(sql);
    for (const { name, sql } of this.#tables.filter(({ type }) => type === "table"))
      await this.#copyRows(name, sql, signal);
    if (this.#hasSequences()) {
      this.#target.exec("DELETE FROM main.sqlite_sequence");
      this.#target.exec("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence");
    }
    for (const { sql } of this.#tables.filter(({ type }) => type !== "table")) {
      throwIfAborted(signal);
      this.#target.exec(sql);
      await setImmediate();
    }
    for (const name of ["user_version", "application_id"])
      this.#target.exec(`PRAGMA main.${name} = ${this.#readPragma(`source.${name}`)}`);
    this.#target.exec("COMMIT");
  }

  /** The first column of every row that a query on the copy returns. */
  read(sql: string): unknown[] {
    return this.#target
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  }

  close(): void {
    if (this.#target.isOpen) this.#target.close();
  }

  async #copyRows(name: string, sql: string, signal: AbortSignal | undefined): Promise<void> {
    const table = `"${name.replace(QUOTE, '""')}"`;
    if (/WITHOUT\s+ROWID/i.test(sql)) {
      throwIfAborted(signal);
      this.#target.exec(`INSERT INTO main.${table} SELECT * FROM source.${table}`);
      await setImmediate();
      return;
    }
    const bounds = this.#target.prepare(
      `SELECT max(rowid) AS last, count(*) AS rows FROM (SELECT rowid FROM source.${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_PER_STEP})`,
    );
    const copy = this.#target.prepare(
      `INSERT INTO main.${table} SELECT * FROM source.${table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid`,
    );
    for (let after = Number.MIN_SAFE_INTEGER; ; ) {
      throwIfAborted(signal);
      const { last, rows } = bounds.get(after) as { last: number | null; rows: number };
      if (last === null) return;
      copy.run(after, last);
      after = last;
      if (rows < ROWS_PER_STEP) return;
      await setImmediate();
    }
  }

  #hasSequences(): boolean {
    return this.read("SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'").length > 0;
  }

  #readPragma(name: string): number {
    return this.read(`PRAGMA ${name}`)[0] as number;
  }
}
