import type { Lease, LeaseStore } from "../../../log/store/lease-store.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** Leases in PostgreSQL. */
export class PostgresLeases implements LeaseStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async claim({ name, owner, expiresAt }: Lease, now: number): Promise<Lease | undefined> {
    for (;;) {
      const claimed = await this.#db.query(
        `INSERT INTO @leases AS l (name, owner, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
         WHERE l.owner = excluded.owner OR l.expires_at <= $4 RETURNING name`,
        [name, owner, expiresAt, now],
      );
      if (claimed.length > 0) return undefined;
      const known = await this.get(name);
      // Undefined if it was released just now.
      if (known && (known.owner === owner || known.expiresAt > now)) return known;
    }
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#db.query("DELETE FROM @leases WHERE name = $1 AND owner = $2", [name, owner]);
  }

  async dropExpired(before: number): Promise<number> {
    const dropped = await this.#db.query("DELETE FROM @leases WHERE expires_at < $1 RETURNING name", [
      before,
    ]);
    return dropped.length;
  }

  async list(prefix: string): Promise<readonly Lease[]> {
    const rows = await this.#db.query(
      "SELECT name, owner, expires_at FROM @leases WHERE starts_with(name, $1) ORDER BY name",
      [prefix],
    );
    return rows.map(toLeaseRecord);
  }

  async get(name: string): Promise<Lease | undefined> {
    const [row] = await this.#db.query("SELECT name, owner, expires_at FROM @leases WHERE name = $1", [name]);
    return row && toLeaseRecord(row);
  }
}

/** A lease as its row holds it. */
export function toLeaseRecord(row: SqlRow): Lease {
  return { name: row.name as string, owner: row.owner as string, expiresAt: row.expires_at as number };
}
