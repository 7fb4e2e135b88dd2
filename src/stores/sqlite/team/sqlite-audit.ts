import {
  AUDIT_HEAD,
  type AuditHead,
  type AuditStore,
  chainAct,
  formatAuditHead,
  parseAuditHead,
} from "../../../log/store/audit-store.ts";
import type { AuditAct, AuditEntry } from "../../../model/audit.ts";
import type { Database, Row } from "../database.ts";

/** The audit log in SQLite. */
export class SqliteAudit implements AuditStore {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = {
      last: db.prepare("SELECT seq, digest FROM audit ORDER BY seq DESC LIMIT 1"),
      list: db.prepare("SELECT * FROM audit WHERE seq > ? ORDER BY seq LIMIT ?"),
      add: db.prepare(
        "INSERT INTO audit (seq, at, actor, act, target, details, previous, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      ),
      note: db.prepare(
        "INSERT INTO leases (name, owner, expires_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET owner = excluded.owner",
      ),
      noted: db.prepare("SELECT owner FROM leases WHERE name = ?"),
    };
  }

  head(): Promise<AuditHead | undefined> {
    return this.#db.read(() => parseAuditHead(this.#statements.noted.get(AUDIT_HEAD)?.owner));
  }

  append(act: AuditAct): Promise<AuditEntry> {
    return this.#db.transactBeside(() => this.record(act));
  }

  list({ after, limit }: { after: number; limit: number }): Promise<readonly AuditEntry[]> {
    return this.#db.read(() => this.#statements.list.all(after, limit).map(toAuditEntry));
  }

  /** Appends inside a transaction of the caller. */
  record(act: AuditAct): AuditEntry {
    const last = this.#statements.last.get() as { seq: number; digest: string } | undefined;
    const entry = chainAct(act, last);
    this.insert(entry);
    this.#statements.note.run(AUDIT_HEAD, formatAuditHead(entry), Number.MAX_SAFE_INTEGER);
    return entry;
  }

  /** Adds an entry as it is, inside a transaction of the caller. */
  insert({ seq, at, actor, act, target, details, previous, digest }: AuditEntry): void {
    this.#statements.add.run(seq, at, actor, act, target, JSON.stringify(details), previous, digest);
  }
}

function toAuditEntry(row: Row): AuditEntry {
  return { ...(row as unknown as AuditEntry), details: JSON.parse(row.details as string) };
}
