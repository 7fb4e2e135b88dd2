import { basename, dirname } from "node:path";
import { toTime } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { FileFacts } from "../reading/folder.ts";
import { openSourceDatabase, type SourceDatabase } from "../reading/source-database.ts";
import { getArchivePath, nameArchives } from "./archives.ts";
import { describeSchemaFault, hasTranscripts } from "./openclaw-schema.ts";
import { getSourceFacts } from "./openclaw-session-files.ts";
import { readRegisteredSessions } from "./registered-sessions.ts";

/**
 * Finds the conversations in an agent's database. `leftovers` are older session files by session: the sources claim
 * them, but they are not read. If the list is unreadable, an extra source reports the problem when it is read.
 */
export async function findOpenclawDatabaseSources(
  file: FileFacts,
  leftovers: ReadonlyMap<string, string> = new Map(),
): Promise<readonly ImportSource[]> {
  const { path } = file;
  const sources: ImportSource[] = [];
  let database: SourceDatabase | undefined;
  try {
    database = await openSourceDatabase(path);
    if (!hasTranscripts(database)) return [];
    if ((await describeSchemaFault(database)) !== undefined) return [buildUnreadableSource(file)];
    const sessions = await readRegisteredSessions(database);
    for await (const { id, share, modifiedAt } of listLiveSessions(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, leftovers.get(id)].filter((one) => one !== undefined),
        sizeBytes: Math.round(share * file.sizeBytes),
        modifiedAt: modifiedAt ?? file.modifiedAt,
        ...getSourceFacts(sessions.get(id)),
      });
    }
    for (const [id, archive] of await nameArchives(database)) {
      sources.push({
        format: "openclaw",
        id,
        path,
        paths: [path, getArchivePath(path, archive)].filter((one) => one !== undefined),
        sizeBytes: archive.sizeBytes,
        modifiedAt: archive.archivedAt ?? file.modifiedAt,
        ...getSourceFacts(sessions.get(archive.session)),
      });
    }
  } catch (error) {
    describeDatabaseFault(error);
    sources.push(buildUnreadableSource(file));
  } finally {
    await database?.close();
  }
  return sources;
}

/** Builds a source whose read yields only a problem. */
function buildUnreadableSource({ path, sizeBytes, modifiedAt }: FileFacts): ImportSource {
  const id = `${getAgentName(path)}/${basename(path)}`;
  return { format: "openclaw", id, path, paths: [path], sizeBytes, modifiedAt };
}

function getAgentName(path: string): string {
  const folder = dirname(path);
  return basename(folder) === "agent" ? basename(dirname(folder)) : basename(folder);
}

async function* listLiveSessions(database: SourceDatabase) {
  const all = await database.first("SELECT count(*) AS count FROM transcript_events");
  const hasTime = database.hasColumn("transcript_events", "created_at");
  for await (const { session_id, count, last } of database.rows(
    "SELECT session_id, count(*) AS count, max(seq) AS last FROM transcript_events GROUP BY session_id",
  )) {
    const id = String(session_id);
    const row = hasTime
      ? await database.first(
          "SELECT created_at FROM transcript_events WHERE session_id = ? AND seq = ?",
          id,
          Number(last),
        )
      : undefined;
    yield {
      id,
      /** Approximate share of the file. */
      share: Number(count) / Math.max(1, Number(all?.count)),
      modifiedAt: toTime(row?.created_at),
    };
  }
}
