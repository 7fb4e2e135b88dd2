import {
  AUDIT_HEAD,
  type AuditHead,
  type AuditStore,
  chainAct,
  formatAuditHead,
  parseAuditHead,
} from "../../../log/store/audit-store.ts";
import type { AuditAct, AuditEntry } from "../../../model/audit.ts";
import type { PostgresDatabase, Sql } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** First half of the advisory lock's key; the second is made of the schema's name. */
const LOCK_CLASS = 0x4c49;

/** The audit log in PostgreSQL. */
export class PostgresAudit implements AuditStore {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  append(act: AuditAct): Promise<AuditEntry> {
    return this.#db.transact((sql) => this.record(sql, act));
  }

  async list({ after, limit }: { after: number; limit: number }): Promise<readonly AuditEntry[]> {
    const rows = await this.#db.query("SELECT * FROM @audit WHERE seq > $1 ORDER BY seq LIMIT $2", [
      after,
      limit,
    ]);
    return rows.map(toAuditRecord);
  }

  /** Appends inside a transaction of the caller; one transaction at a time. */
  async record(sql: Sql, act: AuditAct): Promise<AuditEntry> {
    await sql.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [LOCK_CLASS, this.#db.schema]);
    const [last] = await sql.query("SELECT seq, digest FROM @audit ORDER BY seq DESC LIMIT 1");
    const entry = chainAct(act, last as { seq: number; digest: string } | undefined);
    await this.insert(sql, entry);
    await sql.query(
      "INSERT INTO @leases (name, owner, expires_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET owner = excluded.owner",
      [AUDIT_HEAD, formatAuditHead(entry), Number.MAX_SAFE_INTEGER],
    );
    return entry;
  }

  async head(): Promise<AuditHead | undefined> {
    const [row] = await this.#db.query("SELECT owner FROM @leases WHERE name = $1", [AUDIT_HEAD]);
    return parseAuditHead(row?.owner);
  }

  /** Adds an entry as it is, inside a transaction of the caller. */
  async insert(sql: Sql, entry: AuditEntry): Promise<void> {
    const { seq, at, actor, act, target, details, previous, digest } = entry;
    await sql.query(
      `INSERT INTO @audit (seq, at, actor, act, target, details, previous, digest)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [seq, at, actor, act, target, JSON.stringify(details), previous, digest],
    );
  }
}

function toAuditRecord(row: SqlRow): AuditEntry {
  return { ...(row as unknown as AuditEntry), details: JSON.parse(row.details as string) };
}
