import { createSessionNotFound } from "../../../log/store/refusals.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import type { SessionId } from "../../../model/entry.ts";
import type { Sql } from "../connection/postgres-database.ts";
import type { SqlRow } from "../connection/sql-values.ts";

/** Number of a session and the end of its log. */
export interface LogHead {
  readonly number: number;
  seq: number;
  at: number;
}

const MAX_SESSIONS = 8_192;
const SELECT =
  "SELECT s.id, h.session, h.seq, h.at FROM @sessions s JOIN @heads h ON h.session = s.number WHERE s.id = ANY($1::text[])";

/** Ends of logs: as the database has them, and as this process last saw them. */
export class LogHeads {
  readonly #cache = new BoundedMap<SessionId, LogHead>({ max: MAX_SESSIONS });

  /** The end that this process last saw; others may have appended since, or deleted the session. */
  recall(id: SessionId): LogHead | undefined {
    return this.#cache.use(id);
  }

  remember(id: SessionId, head: LogHead): void {
    this.#cache.set(id, { ...head });
  }

  forget(id: SessionId): void {
    this.#cache.delete(id);
  }

  /** The current ends of those of the sessions that exist. */
  async read(sql: Sql, ids: readonly SessionId[]): Promise<Map<SessionId, LogHead>> {
    const heads = toHeads(await sql.query(SELECT, [ids]));
    for (const id of ids) {
      const head = heads.get(id);
      if (head) this.remember(id, head);
      else this.forget(id);
    }
    return heads;
  }

  /** Within a transaction: the current ends, which nobody else moves until it is over. Locks in one order for all. */
  async lock(sql: Sql, ids: readonly SessionId[]): Promise<Map<SessionId, LogHead>> {
    return toHeads(await sql.query(`${SELECT} ORDER BY h.session FOR UPDATE OF h`, [ids]));
  }

  /** The current end of a session; throws SESSION_NOT_FOUND. */
  async require(sql: Sql, id: SessionId): Promise<LogHead> {
    const head = (await this.read(sql, [id])).get(id);
    if (head) return head;
    throw createSessionNotFound(id);
  }

  /** The number of a session; throws SESSION_NOT_FOUND. Within a transaction, the session stays until its end. */
  async requireNumber(sql: Sql, id: SessionId): Promise<number> {
    const [row] = await sql.query("SELECT number FROM @sessions WHERE id = $1 FOR KEY SHARE", [id]);
    if (row) return row.number as number;
    throw createSessionNotFound(id);
  }
}

function toHeads(rows: readonly SqlRow[]): Map<SessionId, LogHead> {
  return new Map(
    rows.map(({ id, session, seq, at }) => [
      id as string,
      { number: session as number, seq: seq as number, at: at as number },
    ]),
  );
}
