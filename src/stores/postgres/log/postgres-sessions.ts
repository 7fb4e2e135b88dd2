import type { FreedCounts } from "../../../log/store/freed-counts.ts";
import { toSessionRecord } from "../../../log/store/record-rows.ts";
import { createHasChildren, createSessionNotFound } from "../../../log/store/refusals.ts";
import {
  changeRecord,
  type NewSession,
  type RecordChange,
  type SessionQuery,
  type SessionRecord,
  type SessionSize,
  type SessionStore,
} from "../../../log/store/session-store.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { PostgresEraser } from "../blobs/postgres-eraser.ts";
import type { PostgresDatabase, Sql, Transaction } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { LogHeads } from "../heads/log-heads.ts";
import type { ReaderAccess } from "../schema/reader-access.ts";
import type { EntryPartitions } from "./entry-partitions.ts";

const COLUMNS = "s.number, s.id, p.id AS parent, s.relation, s.created_at, s.title, s.meta, h.line_seq";
const SELECT = `SELECT ${COLUMNS} FROM @sessions s JOIN @heads h ON h.session = s.number LEFT JOIN @sessions p ON p.number = s.parent`;
const NEWEST_FIRST = "ORDER BY s.number DESC LIMIT";

/** The parts of the store that sessions work with. */
interface SessionDeps {
  readonly heads: LogHeads;
  readonly partitions: EntryPartitions;
  readonly eraser: PostgresEraser;
  readonly readers: ReaderAccess;
  readonly onCommit: () => void;
}

/** Sessions in PostgreSQL. */
export class PostgresSessions implements SessionStore {
  readonly #db: PostgresDatabase;
  readonly #deps: SessionDeps;

  constructor(db: PostgresDatabase, deps: SessionDeps) {
    this.#db = db;
    this.#deps = deps;
  }

  async open(session: NewSession): Promise<{ record: SessionRecord; created: boolean }> {
    const known = await this.get(session.id);
    if (known) return { record: known, created: false };
    return this.#db.transact((transaction) => this.openWithin(transaction, session));
  }

  /** `open` for callers inside a transaction. */
  async openWithin(
    transaction: Transaction,
    session: NewSession,
  ): Promise<{ record: SessionRecord; created: boolean }> {
    const parent =
      session.parent === undefined ? null : await this.#deps.heads.requireNumber(transaction, session.parent);
    const meta = session.meta === undefined ? null : JSON.stringify(session.meta);
    const [made] = await transaction.query(
      `INSERT INTO @sessions (id, parent, relation, created_at, title, meta) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (id) DO NOTHING RETURNING number`,
      [session.id, parent, session.relation ?? null, session.createdAt, session.title ?? null, meta],
    );
    if (made) {
      const number = made.number as number;
      await this.#deps.partitions.ensure(transaction, number);
      await transaction.query("INSERT INTO @heads (session) VALUES ($1)", [number]);
      return { record: { ...session, lineSeq: 0 }, created: true };
    }
    const record = await this.#find(transaction, session.id);
    if (!record) throw createSessionNotFound(session.id);
    return { record: toSessionRecord(record), created: false };
  }

  async get(id: SessionId): Promise<SessionRecord | undefined> {
    const row = await this.#find(this.#db, id);
    return row && toSessionRecord(row);
  }

  async readable(
    ids: readonly SessionId[],
    owners: readonly string[],
  ): Promise<ReadonlySet<SessionId> | undefined> {
    if (ids.length === 0) return new Set();
    const restricted = await this.#deps.readers.tryOpen(owners);
    if (!restricted) return undefined;
    const rows = await restricted.query("SELECT id FROM @sessions WHERE id = ANY($1::text[])", [ids]);
    return new Set(rows.map(({ id }) => id as string));
  }

  async list({ limit, before, parent, prefix }: SessionQuery): Promise<readonly SessionRecord[]> {
    const start =
      before === undefined
        ? Number.MAX_SAFE_INTEGER
        : (await this.#deps.heads.require(this.#db, before)).number;
    const filters = ["s.id IS NOT NULL", "s.number < $1"];
    const values: (string | number)[] = [start, limit];
    if (prefix) {
      // No id contains the last code point, so this bound sorts after all ids with the prefix.
      filters.push("s.id >= $3", "s.id < $4");
      values.push(prefix, `${prefix}\u{10ffff}`);
    } else if (parent !== undefined) {
      filters.push("s.parent = $3");
      values.push((await this.#deps.heads.require(this.#db, parent)).number);
    }
    const rows = await this.#db.query(`${SELECT} WHERE ${filters.join(" AND ")} ${NEWEST_FIRST} $2`, values);
    return rows.map(toSessionRecord);
  }

  async update(id: SessionId, change: RecordChange): Promise<SessionRecord> {
    return this.#db.transact(async (transaction) => {
      await transaction.query("SELECT 1 FROM @sessions WHERE id = $1 FOR NO KEY UPDATE", [id]);
      const row = await this.#find(transaction, id);
      if (!row) throw createSessionNotFound(id);
      const next = changeRecord(toSessionRecord(row), change);
      const meta = next.meta === undefined ? null : JSON.stringify(next.meta);
      await transaction.query("UPDATE @sessions SET title = $2, meta = $3 WHERE number = $1", [
        row.number as number,
        next.title ?? null,
        meta,
      ]);
      return next;
    });
  }

  async delete(id: SessionId): Promise<FreedCounts> {
    const number = await this.#db.transact(async (transaction) => {
      const [doomed] = await transaction.query("SELECT number FROM @sessions WHERE id = $1 FOR UPDATE", [id]);
      if (!doomed) throw createSessionNotFound(id);
      const session = doomed.number as number;
      const [child] = await transaction.query(
        "SELECT 1 FROM @sessions WHERE parent = $1 AND id IS NOT NULL LIMIT 1",
        [session],
      );
      if (child) throw createHasChildren(id);
      // Without a head nobody can append.
      await transaction.query("DELETE FROM @heads WHERE session = $1", [session]);
      await transaction.query(
        "UPDATE @sessions SET id = NULL, parent = NULL, title = NULL, meta = NULL WHERE number = $1",
        [session],
      );
      await transaction.query(
        "UPDATE @intakes SET name = NULL, checkpoint = NULL, progress = NULL WHERE session = $1",
        [session],
      );
      return session;
    });
    this.#deps.heads.forget(id);
    const freed = await this.#deps.eraser.eraseSession(number);
    await this.#deps.eraser.sweepObjects();
    this.#deps.onCommit();
    return { ...freed, sessions: 1, scrubbed: false };
  }

  sizes(): AsyncIterable<SessionSize> {
    return readPostgresSizes(this.#db);
  }

  async #find(sql: Sql, id: SessionId): Promise<SqlRow | undefined> {
    const [row] = await sql.query(`${SELECT} WHERE s.id = $1`, [id]);
    return row;
  }
}

const SESSIONS_PER_STEP = 50;

/** Yields the sizes of all sessions, page by page. */
async function* readPostgresSizes(db: PostgresDatabase): AsyncGenerator<SessionSize> {
  for (let after = 0; ; ) {
    const rows = await db.query(
      `SELECT s.number, s.id, l.entries, l.bytes, coalesce(l.used_at, s.created_at) AS used_at, b.bytes AS blob_bytes
       FROM (SELECT number, id, created_at FROM @sessions WHERE id IS NOT NULL AND number > $1 ORDER BY number LIMIT ${SESSIONS_PER_STEP}) s
       CROSS JOIN LATERAL (
         SELECT count(*)::int AS entries, coalesce(sum(length(payload)), 0)::bigint AS bytes, max(at) AS used_at
         FROM @entries WHERE session = s.number
       ) l
       CROSS JOIN LATERAL (
         SELECT coalesce(sum(b.size_bytes), 0)::bigint AS bytes
         FROM (SELECT DISTINCT digest FROM @entry_blobs WHERE session = s.number) r JOIN @blobs b ON b.digest = r.digest
         WHERE NOT EXISTS (SELECT 1 FROM @entry_blobs o WHERE o.digest = r.digest AND o.session <> s.number)
           AND NOT EXISTS (SELECT 1 FROM @draft_blobs o JOIN @drafts d ON d.number = o.draft
                           WHERE o.digest = r.digest AND d.session <> s.number)
       ) b
       ORDER BY s.number`,
      [after],
    );
    for (const row of rows) {
      after = row.number as number;
      yield {
        session: row.id as string,
        entries: row.entries as number,
        payloadBytes: row.bytes as number,
        blobBytes: row.blob_bytes as number,
        usedAt: row.used_at as number,
      };
    }
    if (rows.length < SESSIONS_PER_STEP) return;
  }
}
