import type { LedgerKind, LedgerRow, LedgerStore } from "../../log/store/ledger-store.ts";
import type { Database, Row } from "./database.ts";

const MAX_OWN_WRITES = 2 ** 20;

/** The ledger in SQLite. */
export class SqliteLedger implements LedgerStore {
  readonly #db: Database;
  readonly #statements;
  #ownWrites = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      put: db.prepare(
        "INSERT INTO ledger (kind, id, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      ),
      get: db.prepare("SELECT id, value FROM ledger WHERE kind = ? AND id = ?"),
      list: db.prepare("SELECT id, value FROM ledger WHERE kind = ? AND id > ? ORDER BY id LIMIT ?"),
      remove: db.prepare("DELETE FROM ledger WHERE kind = ? AND id = ?"),
    };
  }

  async put(kind: LedgerKind, rows: readonly LedgerRow[]): Promise<void> {
    this.#ownWrites++;
    await this.#db.transactBeside(() => {
      for (const { id, value } of rows) this.#statements.put.run(kind, id, value);
    });
  }

  find(kind: LedgerKind, ids: readonly string[]): Promise<readonly LedgerRow[]> {
    return this.#db.snapshot(() => {
      return ids.flatMap((id) => {
        const row = this.#statements.get.get(kind, id);
        return row ? [toLedgerRow(row)] : [];
      });
    });
  }

  peekVersion(): number {
    return this.#db.isClosed
      ? -1
      : this.#db.dataVersion() * MAX_OWN_WRITES + (this.#ownWrites % MAX_OWN_WRITES);
  }

  list(
    kind: LedgerKind,
    { after = "", limit }: { after?: string; limit: number },
  ): Promise<readonly LedgerRow[]> {
    return this.#db.read(() => this.#statements.list.all(kind, after, limit).map(toLedgerRow));
  }

  async remove(kind: LedgerKind, ids: readonly string[]): Promise<void> {
    await this.#db.transactBeside(() => {
      for (const id of ids) this.#statements.remove.run(kind, id);
    });
  }
}

function toLedgerRow({ id, value }: Row): LedgerRow {
  return { id: id as string, value: value as string };
}
