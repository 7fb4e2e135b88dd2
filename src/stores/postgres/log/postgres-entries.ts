import {
  type AppendOutcome,
  type AppendRequest,
  type EntryQuery,
  type EntryStore,
  type Head,
  KIND_NUMBERS,
  MAX_SEQ,
  type SessionHead,
  type StoredEntry,
  type Tombstone,
  toKind,
} from "../../../log/store/entry-store.ts";
import type { FreedCounts } from "../../../log/store/freed-counts.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { PostgresEraser } from "../blobs/postgres-eraser.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";
import type { LogHeads } from "../heads/log-heads.ts";
import type { EntryAppender } from "./entry-appender.ts";

/** Dependencies of `PostgresEntries`. */
interface EntryDeps {
  readonly heads: LogHeads;
  readonly appender: EntryAppender;
  readonly eraser: PostgresEraser;
  /** Called after each commit that added entries. */
  readonly onCommit: () => void;
}

/**
 * The last seq at or before a time by bisection on the server. Entries dated by a clock that ran ahead count with the
 * time of the first right one after them.
 */
const SEQ_AT = `
WITH RECURSIVE search (low, high) AS (
  SELECT 0, $2::int
  UNION ALL
  SELECT CASE WHEN e.at <= $4 THEN (low + high + 1) / 2 ELSE low END,
         CASE WHEN e.at <= $4 THEN high ELSE (low + high + 1) / 2 - 1 END
  FROM search CROSS JOIN LATERAL (
    SELECT at FROM @entries WHERE session = $1 AND seq >= (low + high + 1) / 2 AND at <= $3 ORDER BY seq LIMIT 1
  ) e WHERE low < high
)
SELECT low FROM search WHERE low = high`;

/** Entries in PostgreSQL. */
export class PostgresEntries implements EntryStore {
  readonly #db: PostgresDatabase;
  readonly #deps: EntryDeps;

  constructor(db: PostgresDatabase, deps: EntryDeps) {
    this.#db = db;
    this.#deps = deps;
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    const outcomes = await this.#deps.appender.append(requests);
    this.#deps.onCommit();
    return outcomes;
  }

  async get(session: SessionId, seq: number): Promise<StoredEntry | undefined> {
    if (seq < 1 || seq > MAX_SEQ) return undefined;
    return this.#hitOrRefresh(session, async (number) => {
      const [row] = await this.#db.query(
        "SELECT seq, at, kind, payload FROM @entries WHERE session = $1 AND seq = $2",
        [number, seq],
      );
      return row && toStoredEntry(row);
    });
  }

  async read(session: SessionId, query: EntryQuery): Promise<readonly StoredEntry[]> {
    const found = await this.#hitOrRefresh(session, async (number) => {
      const stored = await this.#read(number, query);
      return stored.length > 0 ? stored : undefined;
    });
    return found ?? [];
  }

  async head(session: SessionId): Promise<Head> {
    const { seq, at } = await this.#deps.heads.require(this.#db, session);
    return { seq, at };
  }

  async heads(query: { after?: number; limit: number }): Promise<readonly SessionHead[]> {
    const rows = await this.#db.query(
      `SELECT s.number, s.id, s.created_at, h.seq FROM @sessions s JOIN @heads h ON h.session = s.number
       WHERE s.number > $1 AND s.id IS NOT NULL ORDER BY s.number LIMIT $2`,
      [query.after ?? 0, query.limit],
    );
    return rows.map((row) => ({
      session: row.id as string,
      createdAt: row.created_at as number,
      seq: row.seq as number,
      place: row.number as number,
    }));
  }

  /** The snapshot of the server: it changes whenever a transaction that wrote has ended, of any program. */
  async version(): Promise<string> {
    const [row] = await this.#db.query("SELECT pg_current_snapshot()::text AS snapshot");
    return row?.snapshot as string;
  }

  async seqAt(session: SessionId, at: number): Promise<number> {
    const head = await this.#deps.heads.require(this.#db, session);
    if (head.seq === 0) return 0;
    if (at >= head.at) return head.seq;
    const [row] = await this.#db.query(SEQ_AT, [head.number, head.seq, head.at, Math.floor(at)]);
    return (row?.low as number | undefined) ?? 0;
  }

  async redact(session: SessionId, tombstones: readonly Tombstone[]): Promise<FreedCounts> {
    const { heads, eraser } = this.#deps;
    const freed = await this.#db.transact(async (transaction) =>
      eraser.redact(transaction, await heads.requireNumber(transaction, session), tombstones),
    );
    await eraser.sweepObjects();
    return { ...freed, scrubbed: freed.entries === 0 };
  }

  async #read(number: number, { from, to, limit, order, kinds }: EntryQuery): Promise<StoredEntry[]> {
    const direction = order === "ascending" ? "ASC" : "DESC";
    const filter = kinds ? `AND kind IN (${kinds.map((kind) => KIND_NUMBERS[kind]).join()})` : "";
    const rows = await this.#db.query(
      `SELECT seq, at, kind, payload FROM @entries WHERE session = $1 AND seq BETWEEN $2 AND $3 ${filter}
       ORDER BY seq ${direction} LIMIT $4`,
      [number, Math.max(from, 1), Math.min(to, MAX_SEQ), limit],
    );
    return rows.map(toStoredEntry);
  }

  /**
   * Looks up under the last known number of the session; only a miss can mean that another process deleted and
   * recreated it.
   */
  async #hitOrRefresh<T>(
    session: SessionId,
    look: (number: number) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { heads } = this.#deps;
    const known = heads.recall(session);
    const hit = known && (await look(known.number));
    if (hit !== undefined) return hit;
    const fresh = (await heads.read(this.#db, [session])).get(session);
    return fresh && fresh.number !== known?.number ? look(fresh.number) : undefined;
  }
}

function toStoredEntry(row: SqlRow): StoredEntry {
  return {
    seq: row.seq as number,
    at: row.at as number,
    kind: toKind(row.kind as number) ?? "damaged",
    payload: row.payload as Uint8Array,
  };
}
