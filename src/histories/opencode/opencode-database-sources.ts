import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toText, toTime } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { FileFacts } from "../reading/folder.ts";
import { openSourceDatabase, type SourceDatabase } from "../reading/source-database.ts";

/**
 * Finds the conversations in a database; none if it is not opencode's. `migrated` are older session files by session:
 * the sources claim them, but they are not read. If the list is unreadable, an extra source named after the file
 * reports the problem when it is read.
 */
export async function findOpencodeDatabaseSources(
  file: FileFacts,
  migrated: ReadonlyMap<string, string> = new Map(),
): Promise<readonly ImportSource[]> {
  const sources: ImportSource[] = [];
  let database: SourceDatabase | undefined;
  try {
    database = await openSourceDatabase(file.path);
    if (!isOpencode(database)) return [];
    const shareOf = await estimateShares(database);
    const changedAt = readChanges(database);
    for await (const row of database.rows("SELECT * FROM session ORDER BY time_created, id")) {
      const id = toText(row.id);
      if (id === undefined) continue;
      sources.push({
        format: "opencode",
        id,
        path: file.path,
        paths: [file.path, migrated.get(id)].filter((path) => path !== undefined),
        sizeBytes: Math.round(shareOf(id) * file.sizeBytes),
        modifiedAt: Math.max(toTime(row.time_updated) ?? 0, await changedAt(id)) || file.modifiedAt,
        ...dropUndefined({
          parent: toText(row.parent_id),
          title: toText(row.title),
          cwd: toText(row.directory),
        }),
      });
    }
  } catch (error) {
    describeDatabaseFault(error);
    const { name: id, path, sizeBytes, modifiedAt } = file;
    sources.push({ format: "opencode", id, path, paths: [path], sizeBytes, modifiedAt });
  } finally {
    await database?.close();
  }
  return sources;
}

function isOpencode(database: SourceDatabase): boolean {
  return (
    ["session", "message", "part"].every((table) => database.hasTable(table)) &&
    database.hasColumn("session", "time_created") &&
    database.hasColumn("message", "data") &&
    database.hasColumn("part", "data")
  );
}

/** Estimates each session's share of the file; counts messages, because an index covers them. */
async function estimateShares(database: SourceDatabase): Promise<(session: string) => number> {
  const counts = new Map<unknown, number>();
  let total = 0;
  for await (const row of database.rows(
    "SELECT session_id, count(*) AS count FROM message GROUP BY session_id",
  )) {
    counts.set(row.session_id, Number(row.count));
    total += Number(row.count);
  }
  return (session) => (counts.get(session) ?? 0) / Math.max(1, total);
}

/** Returns when a conversation last grew: while a reply streams, only its parts are updated. */
function readChanges(database: SourceDatabase): (session: string) => Promise<number> {
  const tables = ["message", "part"];
  const columns = ["time_created", "time_updated"];
  const isTold = tables.every((table) => columns.every((column) => database.hasColumn(table, column)));
  if (!isTold) return async () => 0;
  return async (session) => {
    const message = await database.first(
      "SELECT id, time_updated FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1",
      session,
    );
    if (!message) return 0;
    const part = await database.first(
      "SELECT max(time_updated) AS time FROM part WHERE message_id = ?",
      String(message.id),
    );
    return Math.max(toTime(message.time_updated) ?? 0, toTime(part?.time) ?? 0);
  };
}
