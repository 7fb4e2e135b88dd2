import { basename, dirname } from "node:path";
import { timeOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import { openDatabase, type SourceDatabase } from "../reading/database.ts";
import { databaseFault } from "../reading/database-fault.ts";
import type { FileFacts } from "../reading/folder.ts";
import { archivePath, namedArchives } from "./archives.ts";
import { registeredIn } from "./registry.ts";
import { holdsTranscripts, schemaFault } from "./schema.ts";
import { describedBy } from "./session-files.ts";

/**
 * Finds the conversations in an agent's database. `leftovers` are older session files by session: the sources claim
 * them, but they are not read. If the list is unreadable, an extra source reports the problem when it is read.
 */
export async function databaseSources(
  file: FileFacts,
  leftovers: ReadonlyMap<string, string> = new Map(),
): Promise<readonly Source[]> {
  const { path } = file;
  const sources: Source[] = [];
  let database: SourceDatabase | undefined;
  try {
    database = await openDatabase(path);
    if (!holdsTranscripts(database)) return [];
    if (schemaFault(database) !== undefined) return [unreadable(file)];
    const sessions = registeredIn(database);
    for (const { id, share, modifiedAt } of liveOf(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, leftovers.get(id)].filter((one) => one !== undefined),
        sizeBytes: Math.round(share * file.sizeBytes),
        modifiedAt: modifiedAt ?? file.modifiedAt,
        ...describedBy(sessions.get(id)),
      });
    }
    for (const [id, archive] of namedArchives(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, archivePath(path, archive)].filter((one) => one !== undefined),
        sizeBytes: archive.sizeBytes,
        modifiedAt: archive.archivedAt ?? file.modifiedAt,
        ...describedBy(sessions.get(archive.session)),
      });
    }
  } catch (error) {
    databaseFault(error);
    sources.push(unreadable(file));
  } finally {
    await database?.close();
  }
  return sources;
}

/** Builds a source whose read yields only a problem. */
function unreadable({ path, sizeBytes, modifiedAt }: FileFacts): Source {
  const id = `${agentOf(path)}/${basename(path)}`;
  return { format: "openclaw", id, path, paths: [path], sizeBytes, modifiedAt };
}

function agentOf(path: string): string {
  const folder = dirname(path);
  return basename(folder) === "agent" ? basename(dirname(folder)) : basename(folder);
}

function* liveOf(database: SourceDatabase) {
  const [all] = database.rows("SELECT count(*) AS count FROM transcript_events");
  const hasTime = database.hasColumn("transcript_events", "created_at");
  for (const { session_id, count, last } of database.rows(
    "SELECT session_id, count(*) AS count, max(seq) AS last FROM transcript_events GROUP BY session_id",
  )) {
    const id = String(session_id);
    const [row] = hasTime
      ? database.rows(
          "SELECT created_at FROM transcript_events WHERE session_id = ? AND seq = ?",
          id,
          Number(last),
        )
      : [];
    yield {
      id,
      /** Approximate share of the file. */
      share: Number(count) / Math.max(1, Number(all?.count)),
      modifiedAt: timeOf(row?.created_at),
    };
  }
}
