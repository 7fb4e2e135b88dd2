import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { KIND_NUMBERS } from "../../src/log/store/entry-store.ts";

const KINDS = (["message", "line", "redacted"] as const).map((kind) => [KIND_NUMBERS[kind], kind] as const);

/** The sessions of a store as its file has them, read with its own connection. */
export function readSessions(path: string): Record<string, unknown> {
  const connection = new DatabaseSync(join(path, "log.db"), { readOnly: true });
  try {
    const kindOf = new Map<unknown, string>(KINDS);
    const entries = connection.prepare(
      "SELECT key % 1073741824 AS seq, kind, payload FROM entries WHERE key / 1073741824 = ? ORDER BY key",
    );
    const sessions: Record<string, unknown> = {};
    for (const row of connection.prepare("SELECT * FROM sessions WHERE id IS NOT NULL").all()) {
      const stored = entries.all(row.number as number);
      sessions[row.id as string] = {
        title: row.title ?? undefined,
        lineSeq: row.line_seq,
        head: stored.at(-1)?.seq ?? 0,
        entries: stored.map(
          ({ seq, kind, payload }) =>
            `${seq} ${kindOf.get(kind)} ${Buffer.from(payload as Uint8Array).toString()}`,
        ),
      };
    }
    return sessions;
  } finally {
    connection.close();
  }
}
