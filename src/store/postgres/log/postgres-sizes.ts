import type { SessionSize } from "../../session-store.ts";
import type { PostgresDatabase } from "../connection/postgres-database.ts";

const SESSIONS_PER_STEP = 50;

/** Yields the sizes of all sessions, page by page. */
export async function* readPostgresSizes(db: PostgresDatabase): AsyncGenerator<SessionSize> {
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
