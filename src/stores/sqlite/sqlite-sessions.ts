import { MAX_SEQ } from "../../log/store/entry-store.ts";
import type { FreedCounts } from "../../log/store/freed-counts.ts";
import { toSessionRecord } from "../../log/store/record-rows.ts";
import { createHasChildren } from "../../log/store/refusals.ts";
import {
  changeRecord,
  type KnownRecord,
  type NewSession,
  type RecordChange,
  type SessionQuery,
  type SessionRecord,
  type SessionSize,
  type SessionStore,
} from "../../log/store/session-store.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Database } from "./database.ts";
import { checkSessionNumber, toEntryKey } from "./entry-key.ts";
import type { Eraser } from "./eraser.ts";
import { RECORD_COLUMNS, RECORD_TABLES, type SessionCache } from "./session-cache.ts";

/** Sessions in SQLite. */
export class SqliteSessions implements SessionStore {
  readonly #db: Database;
  readonly #cache: SessionCache;
  readonly #eraser: Eraser;
  readonly #onCommit: () => void;
  readonly #statements;

  constructor(db: Database, cache: SessionCache, eraser: Eraser, committed: () => void) {
    this.#db = db;
    this.#cache = cache;
    this.#eraser = eraser;
    this.#onCommit = committed;
    this.#statements = {
      insert: db.prepare(
        "INSERT INTO sessions (id, parent, relation, created_at, title, meta) VALUES (?, ?, ?, ?, ?, ?)",
      ),
      lastNumber: db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'sessions'"),
      list: db.prepare(
        `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id IS NOT NULL AND s.number < ? ORDER BY s.number DESC LIMIT ?`,
      ),
      listOfParent: db.prepare(
        `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id IS NOT NULL AND s.parent = ? AND s.number < ? ORDER BY s.number DESC LIMIT ?`,
      ),
      listOfPrefix: db.prepare(
        `SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} WHERE s.id >= ? AND s.id < ? AND s.number < ? ORDER BY s.number DESC LIMIT ?`,
      ),
      update: db.prepare("UPDATE sessions SET title = ?, meta = ? WHERE number = ?"),
      forgetIntakes: db.prepare(
        "UPDATE intakes SET name = NULL, checkpoint = NULL, progress = NULL WHERE session = ?",
      ),
      hasChild: db.prepare("SELECT 1 FROM sessions WHERE parent = ? AND id IS NOT NULL LIMIT 1"),
      forgetId: db.prepare(
        "UPDATE sessions SET id = NULL, parent = NULL, title = NULL, meta = NULL WHERE number = ?",
      ),
    };
  }

  async open(session: NewSession): Promise<{ record: SessionRecord; created: boolean }> {
    const known = await this.get(session.id);
    return known
      ? { record: known, created: false }
      : this.#db.transactBeside(() => this.openWithin(session));
  }

  /** `open` for callers inside a write transaction. */
  openWithin(session: NewSession): { record: SessionRecord; created: boolean } {
    const known = this.#find(session.id);
    if (known) return { record: known, created: false };
    this.#cache.forget(session.id);
    const parent = session.parent === undefined ? null : this.#numberOf(session.parent);
    const meta = session.meta === undefined ? null : JSON.stringify(session.meta);
    checkSessionNumber(((this.#statements.lastNumber.get()?.seq as number | undefined) ?? 0) + 1);
    const { lastInsertRowid } = this.#statements.insert.run(
      session.id,
      parent,
      session.relation ?? null,
      session.createdAt,
      session.title ?? null,
      meta,
    );
    const record = { ...session, lineSeq: 0 };
    this.#cache.keepNew(session.id, Number(lastInsertRowid));
    this.#cache.records.keep(record, meta);
    return { record, created: true };
  }

  peek(id: SessionId): KnownRecord | undefined {
    const known = this.#cache.records.peek(id);
    return known && this.#cache.confirm() ? known : undefined;
  }

  get(id: SessionId): Promise<SessionRecord | undefined> {
    const known = this.peek(id);
    return known ? Promise.resolve(known.record) : this.#db.read(() => this.#find(id));
  }

  async list(query: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#db.snapshot(() => {
      const before = query.before === undefined ? Number.MAX_SAFE_INTEGER : this.#numberOf(query.before);
      const { prefix } = query;
      if (prefix)
        // No id contains the last code point, so this bound sorts after all ids with the prefix.
        return this.#statements.listOfPrefix
          .all(prefix, `${prefix}\u{10ffff}`, before, query.limit)
          .map(toSessionRecord);
      const rows =
        query.parent === undefined
          ? this.#statements.list.all(before, query.limit)
          : this.#statements.listOfParent.all(this.#numberOf(query.parent), before, query.limit);
      return rows.map(toSessionRecord);
    });
  }

  async update(id: SessionId, change: RecordChange): Promise<SessionRecord> {
    return this.#db.transactBeside(() => {
      const number = this.#numberOf(id);
      const next = changeRecord(this.#find(id) as SessionRecord, change);
      const meta = next.meta === undefined ? null : JSON.stringify(next.meta);
      this.#statements.update.run(next.title ?? null, meta, number);
      this.#cache.records.keep(next, meta);
      return next;
    });
  }

  async delete(id: SessionId): Promise<FreedCounts> {
    const number = await this.#db.transact(() => {
      const doomed = this.#numberOf(id);
      if (this.#statements.hasChild.get(doomed)) {
        throw createHasChildren(id);
      }
      this.#statements.forgetId.run(doomed);
      this.#statements.forgetIntakes.run(doomed);
      this.#cache.forget(id);
      return doomed;
    });
    const freed = await this.#eraser.eraseSession(number);
    this.#onCommit();
    return { ...freed, sessions: 1, scrubbed: await this.#db.emptyJournal() };
  }

  sizes(): AsyncIterable<SessionSize> {
    return readSessionSizes(this.#db);
  }

  #find(id: SessionId): SessionRecord | undefined {
    this.#cache.refresh();
    const known = this.#cache.records.peek(id);
    return known ? known.record : this.#cache.records.read(id);
  }

  #numberOf(id: SessionId): number {
    return this.#cache.require(id).number;
  }
}

const SESSIONS_PER_STEP = 50;

/** Yields the sizes of all sessions; other work runs between the steps. */
async function* readSessionSizes(db: Database): AsyncGenerator<SessionSize> {
  const sessions = db.prepare(
    `SELECT number, id, created_at FROM sessions WHERE id IS NOT NULL AND number > ? ORDER BY number LIMIT ${SESSIONS_PER_STEP}`,
  );
  const entries = db.prepare(
    "SELECT count(*) AS entries, coalesce(sum(length(payload)), 0) AS bytes, max(at) AS used_at FROM entries WHERE key BETWEEN ? AND ?",
  );
  const blobs = db.prepare(`
    SELECT coalesce(sum(b.size_bytes), 0) AS bytes
    FROM (SELECT DISTINCT digest FROM blob_refs WHERE owner BETWEEN :from AND :to) r JOIN blobs b ON b.digest = r.digest
    WHERE NOT EXISTS (SELECT 1 FROM blob_refs o WHERE o.digest = r.digest AND o.owner NOT BETWEEN :from AND :to)`);
  for (let after = 0; ; ) {
    const page = await db.snapshot(() =>
      sessions.all(after).map((row): SessionSize & { readonly number: number } => {
        const number = row.number as number;
        const [from, to] = [toEntryKey(number, 0), toEntryKey(number, MAX_SEQ)];
        const log = entries.get(from, to) as { entries: number; bytes: number; used_at: number | null };
        return {
          number,
          session: row.id as string,
          entries: log.entries,
          payloadBytes: log.bytes,
          blobBytes: (blobs.get({ from, to }) as { bytes: number }).bytes,
          usedAt: log.used_at ?? (row.created_at as number),
        };
      }),
    );
    for (const { number, ...size } of page) {
      after = number;
      yield size;
    }
    if (page.length < SESSIONS_PER_STEP) return;
  }
}
