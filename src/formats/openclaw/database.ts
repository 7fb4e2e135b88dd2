import { basename, dirname } from "node:path";
import { numberOf, objectOf, textOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import type { Item } from "../item.ts";
import { openDatabase, type SourceDatabase } from "../reading/database.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { type Archive, archivePath, archivesOf, readArchive } from "./archives.ts";
import { readEvents } from "./events.ts";
import { type RegisteredSession, sessionsOf } from "./registry.ts";
import { holdsTranscripts, schemaFault } from "./schema.ts";
import { describedBy, withFacts } from "./session-files.ts";

/**
 * Conversations in the database of an agent. A database whose tables are not known is one source, so that reading it can
 * tell. `leftovers` are files of the time before the database, by session: they are claimed with it and not read.
 */
export async function databaseSources(
  file: FileFacts,
  leftovers: ReadonlyMap<string, string> = new Map(),
): Promise<readonly Source[]> {
  const { path } = file;
  const database = await openDatabase(path).catch(() => undefined);
  if (!database) return [];
  try {
    if (!holdsTranscripts(database)) return [];
    const base = { format: "openclaw", path } as const;
    if (schemaFault(database) !== undefined) {
      const { sizeBytes, modifiedAt } = file;
      return [{ ...base, id: `${agentOf(path)}/${basename(path)}`, paths: [path], sizeBytes, modifiedAt }];
    }
    const sessions = registeredIn(database);
    const sources: Source[] = [];
    for (const { id, events, modifiedAt } of liveOf(database)) {
      const leftover = leftovers.get(id);
      sources.push({
        ...base,
        id,
        paths: leftover === undefined ? [path] : [path, leftover],
        sizeBytes: Math.round(events.share * file.sizeBytes),
        modifiedAt: modifiedAt ?? file.modifiedAt,
        ...describedBy(sessions.get(id)),
      });
    }
    for (const [id, archive] of namedArchives(database)) {
      const { sizeBytes, archivedAt } = archive;
      const own = archivePath(path, archive);
      const paths = own === undefined ? [path] : [path, own];
      const modifiedAt = archivedAt ?? file.modifiedAt;
      sources.push({
        ...base,
        id,
        paths,
        sizeBytes,
        modifiedAt,
        ...describedBy(sessions.get(archive.session)),
      });
    }
    return sources;
  } finally {
    await database.close();
  }
}

/** One conversation of a database. */
export async function* readDatabase(source: Source, input: Input): AsyncGenerator<Item> {
  const database = await input.database(source.path);
  try {
    const fault = schemaFault(database);
    if (fault !== undefined) {
      yield { type: "problem", path: source.path, severity: "lost", reason: `cannot be read: ${fault}` };
      return;
    }
    const archive = namedArchives(database).get(source.id);
    const session = registeredIn(database).get(archive?.session ?? source.id);
    const items = archive
      ? readArchive(archive, source, input, database)
      : readEvents(source, input, database);
    for await (const item of items)
      yield item.type === "session" && item.meta ? { ...item, meta: withFacts(item.meta, session) } : item;
  } finally {
    await database.close();
  }
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
      // Nobody knows how much of the file is whose.
      events: { share: Number(count) / Math.max(1, Number(all?.count)) },
      modifiedAt: numberOf(row?.created_at),
    };
  }
}

/**
 * Archives by the id of their source: the session's own if nothing else has it, else with the generation, for a session
 * may have been reset more than once.
 */
function namedArchives(database: SourceDatabase): ReadonlyMap<string, Archive> {
  const archives = [...archivesOf(database)];
  const counts = Map.groupBy(archives, ({ session }) => session);
  const named = new Map<string, Archive>();
  for (const archive of archives) {
    const { session, generation } = archive;
    const [live] = database.rows("SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1", session);
    const isAlone = !live && counts.get(session)?.length === 1;
    named.set(isAlone ? session : `${session}@${generation}`, archive);
  }
  return named;
}

/** What the database says of its sessions, besides the transcripts. */
function registeredIn(database: SourceDatabase): Map<string, RegisteredSession> {
  const list: [string, unknown][] = [];
  const hasNodes = ["session_key", "current_session_id", "entry_json"].every((column) =>
    database.hasColumn("session_nodes", column),
  );
  if (hasNodes) {
    for (const row of database.rows("SELECT session_key, current_session_id, entry_json FROM session_nodes"))
      list.push([String(row.session_key), { ...entryOf(row.entry_json), sessionId: row.current_session_id }]);
  }
  const sessions = sessionsOf(list);
  if (!database.hasColumn("session_windows", "session_key")) return sessions;
  for (const { session_id, session_key } of database.rows(
    "SELECT session_id, session_key FROM session_windows",
  )) {
    const id = textOf(session_id);
    const key = textOf(session_key);
    if (id !== undefined && key !== undefined && !sessions.has(id)) sessions.set(id, { key, entry: {} });
  }
  return sessions;
}

function entryOf(json: unknown): object {
  try {
    return objectOf(JSON.parse(String(json))) ?? {};
  } catch {
    return {};
  }
}
