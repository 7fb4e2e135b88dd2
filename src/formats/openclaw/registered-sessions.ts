import { parseJson } from "../../base/parse-json.ts";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";
import type { Leftovers } from "../content/leftovers.ts";
import type { SourceDatabase } from "../reading/source-database.ts";

/** An entry in OpenClaw's list of sessions. */
export interface RegisteredSession {
  /** Key of the conversation across its sessions, such as `agent:main:main`. */
  readonly key: string;
  readonly entry: Leftovers;
  readonly title?: string;
  /** Session id of the parent. */
  readonly parent?: string;
}

/** Indexes a list of sessions by session id. */
export function indexSessions(
  list: Iterable<readonly [key: string, entry: unknown]>,
): Map<string, RegisteredSession> {
  const entries = new Map<string, Leftovers>();
  for (const [key, value] of list) {
    const entry = toObject(value);
    if (entry && toText(entry.sessionId) !== undefined) entries.set(key, entry as Leftovers);
  }
  const sessions = new Map<string, RegisteredSession>();
  for (const [key, entry] of entries) {
    const parent = toText(entries.get(toText(entry.spawnedBy) ?? "")?.sessionId);
    const title = toText(entry.displayName) ?? toText(entry.label) ?? toText(entry.subject);
    const id = toText(entry.sessionId) as string;
    sessions.set(id, { key, entry, ...dropUndefined({ title, parent: parent === id ? undefined : parent }) });
  }
  return sessions;
}

/** Reads the list of sessions from the database. */
export async function readRegisteredSessions(
  database: SourceDatabase,
): Promise<Map<string, RegisteredSession>> {
  const list: [string, unknown][] = [];
  const hasNodes = ["session_key", "current_session_id", "entry_json"].every((column) =>
    database.hasColumn("session_nodes", column),
  );
  if (hasNodes) {
    for await (const row of database.rows(
      "SELECT session_key, current_session_id, entry_json FROM session_nodes",
    ))
      list.push([
        String(row.session_key),
        { ...parseEntry(row.entry_json), sessionId: row.current_session_id },
      ]);
  }
  const sessions = indexSessions(list);
  if (!database.hasColumn("session_windows", "session_key")) return sessions;
  for await (const { session_id, session_key } of database.rows(
    "SELECT session_id, session_key FROM session_windows",
  )) {
    const id = toText(session_id);
    const key = toText(session_key);
    if (id !== undefined && key !== undefined && !sessions.has(id)) sessions.set(id, { key, entry: {} });
  }
  return sessions;
}

function parseEntry(json: unknown): object {
  try {
    return toObject(parseJson(String(json))) ?? {};
  } catch {
    return {};
  }
}
