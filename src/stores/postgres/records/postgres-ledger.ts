import type { LedgerKind, LedgerRow, LedgerStore } from "../../../log/store/ledger-store.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** The ledger in PostgreSQL. */
export class PostgresLedger implements LedgerStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async put(kind: LedgerKind, rows: readonly LedgerRow[]): Promise<void> {
    // One statement must not write a row twice.
    const values = new Map(rows.map(({ id, value }) => [id, value]));
    await this.#db.query(
      `INSERT INTO @ledger (kind, id, value) SELECT $1, * FROM unnest($2::text[], $3::text[])
       ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value`,
      [kind, [...values.keys()], [...values.values()]],
    );
  }

  async find(kind: LedgerKind, ids: readonly string[]): Promise<readonly LedgerRow[]> {
    const rows = await this.#db.query(
      "SELECT id, value FROM @ledger WHERE kind = $1 AND id = ANY($2::text[])",
      [kind, ids],
    );
    return rows.map(toLedgerRow);
  }

  async list(
    kind: LedgerKind,
    { after = "", limit }: { after?: string; limit: number },
  ): Promise<readonly LedgerRow[]> {
    const rows = await this.#db.query(
      "SELECT id, value FROM @ledger WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3",
      [kind, after, limit],
    );
    return rows.map(toLedgerRow);
  }

  async remove(kind: LedgerKind, ids: readonly string[]): Promise<void> {
    await this.#db.query("DELETE FROM @ledger WHERE kind = $1 AND id = ANY($2::text[])", [kind, ids]);
  }
}

function toLedgerRow({ id, value }: SqlRow): LedgerRow {
  return { id: id as string, value: value as string };
}
