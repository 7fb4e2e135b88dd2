import { MAX_SEQ } from "../seq-limit.ts";
import type { SessionSize } from "../session-store.ts";
import type { Database } from "./database.ts";
import { toEntryKey } from "./entry-key.ts";

const SESSIONS_PER_STEP = 50;

/** Yields the sizes of all sessions; other work runs between the steps. */
export async function* readSessionSizes(db: Database): AsyncGenerator<SessionSize> {
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
