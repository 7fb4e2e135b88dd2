import type { NamedState, SharedStateStore } from "../../../log/store/shared-state-store.ts";
import type { Json } from "../../../model/json.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c4c;

/** States that gateways share, in PostgreSQL. */
export class PostgresSharedStates implements SharedStateStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  change(
    names: readonly string[],
    change: (stored: ReadonlyMap<string, Json>) => ReadonlyMap<string, Json>,
  ): Promise<readonly NamedState[]> {
    return this.#db.transact(async (transaction) => {
      // Rows that do not exist yet cannot be locked.
      await transaction.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [
        LOCK_CLASS,
        this.#db.schema,
      ]);
      const rows = await transaction.query(
        "SELECT name, value FROM @shared_states WHERE name = ANY($1::text[])",
        [names],
      );
      const changed = change(new Map(rows.map(toState).map(({ name, value }) => [name, value])));
      await transaction.query(
        `INSERT INTO @shared_states (name, value, changed_at)
         SELECT n, v, clock_timestamp() FROM unnest($1::text[], $2::text[]) AS given (n, v)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at`,
        [[...changed.keys()], [...changed.values()].map((value) => JSON.stringify(value))],
      );
      return [...changed].map(([name, value]) => ({ name, value }));
    });
  }

  async listChanged(withinMs: number): Promise<readonly NamedState[]> {
    const rows = await this.#db.query(
      "SELECT name, value FROM @shared_states WHERE changed_at > clock_timestamp() - $1 * interval '1 millisecond'",
      [withinMs],
    );
    return rows.map(toState);
  }

  async dropUnchanged(withinMs: number): Promise<void> {
    await this.#db.query(
      "DELETE FROM @shared_states WHERE changed_at < clock_timestamp() - $1 * interval '1 millisecond'",
      [withinMs],
    );
  }
}

function toState(row: SqlRow): NamedState {
  return { name: row.name as string, value: JSON.parse(row.value as string) as Json };
}
