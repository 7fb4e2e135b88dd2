import type { Lease, LeaseStore } from "../../log/store/lease-store.ts";
import type { Database, Row } from "./database.ts";

/** Leases in SQLite. */
export class Leases implements LeaseStore {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      get: db.prepare("SELECT name, owner, expires_at FROM leases WHERE name = ?"),
      put: db.prepare(
        "INSERT INTO leases (name, owner, expires_at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at",
      ),
      dropExpired: db.prepare("DELETE FROM leases WHERE expires_at < ?"),
      remove: db.prepare("DELETE FROM leases WHERE name = ? AND owner = ?"),
    };
  }

  claim({ name, owner, expiresAt }: Lease, now: number): Promise<Lease | undefined> {
    return this.#db.transactBeside(() => {
      const row = this.#statements.get.get(name);
      const known = row && toLease(row);
      if (known && known.owner !== owner && known.expiresAt > now) return known;
      this.#statements.put.run(name, owner, expiresAt);
      return undefined;
    });
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#db.transactBeside(() => {
      this.#statements.remove.run(name, owner);
    });
  }

  dropExpired(before: number): Promise<number> {
    return this.#db.transactBeside(() => Number(this.#statements.dropExpired.run(before).changes));
  }

  get(name: string): Promise<Lease | undefined> {
    return this.#db.read(() => {
      const row = this.#statements.get.get(name);
      return row && toLease(row);
    });
  }
}

/** A lease as its row holds it. */
export function toLease(row: Row): Lease {
  return { name: row.name as string, owner: row.owner as string, expiresAt: row.expires_at as number };
}
