import type { Json } from "../../index.ts";
import { definedFields, numberOf, objectOf, textOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import type { ProblemItem } from "../item.ts";
import { type DatabaseRow, openDatabase, type SourceDatabase } from "../reading/database.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { messageOfRow } from "./session-messages.ts";
import type { Stored } from "./stored.ts";

/**
 * Conversations in a database; none if it is not opencode's. `migrated` are files of the time before the database, by
 * session: they are claimed with it and not read.
 */
export async function databaseSources(
  file: FileFacts,
  migrated: ReadonlyMap<string, string> = new Map(),
): Promise<readonly Source[]> {
  const database = await openDatabase(file.path).catch(() => undefined);
  if (!database) return [];
  try {
    if (!isOurs(database)) return [];
    const counts = new Map<unknown, number>();
    let total = 0;
    for (const { session_id, count } of database.rows(
      "SELECT session_id, count(*) AS count FROM message GROUP BY session_id",
    )) {
      counts.set(session_id, Number(count));
      total += Number(count);
    }
    const sources: Source[] = [];
    for (const row of database.rows("SELECT * FROM session ORDER BY time_created, id")) {
      const id = textOf(row.id);
      if (id === undefined) continue;
      const share = (counts.get(id) ?? 0) / Math.max(1, total);
      sources.push({
        format: "opencode",
        id,
        path: file.path,
        paths: [file.path, migrated.get(id)].filter((path) => path !== undefined),
        // Nobody knows how much of the file is whose; messages are counted because an index holds them.
        sizeBytes: Math.round(share * file.sizeBytes),
        modifiedAt: numberOf(row.time_updated) ?? file.modifiedAt,
        ...definedFields({
          parent: textOf(row.parent_id),
          title: textOf(row.title),
          cwd: textOf(row.directory),
        }),
      });
    }
    return sources;
  } finally {
    await database.close();
  }
}

function isOurs(database: SourceDatabase): boolean {
  return (
    ["session", "message", "part"].every((table) => database.hasTable(table)) &&
    database.hasColumn("session", "time_created") &&
    database.hasColumn("message", "data") &&
    database.hasColumn("part", "data")
  );
}

/** One conversation of a database, a message at a time. */
export async function* readDatabase(source: Source, input: Input): AsyncGenerator<Stored> {
  const { path, id } = source;
  const database = await input.database(path);
  try {
    const max = input.limits.maxRecordBytes;
    for (const row of database.rows("SELECT * FROM session WHERE id = ?", id))
      yield { type: "session", info: sessionOf(row) };
    const parse = (table: string, row: DatabaseRow): JsonObject | ProblemItem =>
      parseRow(row, table, path, max);
    const order = database.hasColumn("message", "time_created") ? "time_created, id" : "id";
    let hasMessages = false;
    for (const row of database.rows(messageQuery(max, order), id)) {
      hasMessages = true;
      input.signal?.throwIfAborted();
      const info = parse("message", row);
      if (isProblem(info)) {
        yield info;
        continue;
      }
      const parts: JsonObject[] = [];
      for (const partRow of database.rows(partQuery(max), String(row.id))) {
        const part = parse("part", partRow);
        if (isProblem(part)) yield part;
        else parts.push(part);
      }
      yield { type: "message", message: { info, parts } };
    }
    if (!hasMessages) yield* laterMessages(database, source, max);
    yield* todos(database, id);
  } finally {
    await database.close();
  }
}

/** Messages of a session that only the tables of later versions hold. */
function* laterMessages(database: SourceDatabase, { id, path }: Source, max: number): Generator<Stored> {
  const columns = ["id", "session_id", "type", "time_created", "data"];
  if (!columns.every((column) => database.hasColumn("session_message", column))) return;
  const order = database.hasColumn("session_message", "seq") ? "seq" : "time_created, id";
  const query = `SELECT id, type, ${boundedData(max)} FROM session_message WHERE session_id = ? ORDER BY ${order}`;
  for (const row of database.rows(query, id)) {
    const data = parseRow(row, "session_message", path, max);
    if (isProblem(data)) yield data;
    else {
      const message = messageOfRow(String(row.id), String(row.type), data);
      const value = { ...data, type: String(row.type) } as Json;
      if (message) yield { type: "message", message };
      else yield { type: "other", name: String(row.id), value, version: String(JSON.stringify(data).length) };
    }
  }
}

/** A text that is longer than a record may be is not even loaded. */
const boundedData = (max: number) =>
  `length(data) AS size, CASE WHEN length(data) <= ${Math.trunc(max)} THEN data END AS data`;

const messageQuery = (max: number, order: string) =>
  `SELECT id, ${boundedData(max)} FROM message WHERE session_id = ? ORDER BY ${order}`;

const partQuery = (max: number) =>
  `SELECT id, ${boundedData(max)} FROM part WHERE message_id = ? ORDER BY id`;

function parseRow(row: DatabaseRow, table: string, path: string, max: number): JsonObject | ProblemItem {
  const problem = (reason: string): ProblemItem => ({
    type: "problem",
    path,
    severity: "lost",
    reason: `${table} ${row.id}: ${reason}`,
  });
  if (typeof row.data !== "string") return problem(`longer than ${max} characters (${row.size}); not read`);
  try {
    const data = objectOf(JSON.parse(row.data));
    return data ? { ...data, id: row.id } : problem("not a JSON object");
  } catch (error) {
    return problem(`not JSON: ${(error as Error).message.slice(0, 120)}`);
  }
}

function isProblem(value: JsonObject | ProblemItem): value is ProblemItem {
  return value.type === "problem" && "severity" in value;
}

/** Columns by the names that the same facts have in files. */
const FACTS: Readonly<Record<string, string>> = {
  project_id: "projectID",
  workspace_id: "workspaceID",
  parent_id: "parentID",
};

/** A row of the session table in the shape of a session file; columns of later versions come along. */
function sessionOf(row: DatabaseRow): JsonObject {
  const fields: [string, unknown][] = [];
  const time: [string, unknown][] = [];
  const summary: [string, unknown][] = [];
  for (const [column, value] of Object.entries(row)) {
    if (value === null || value instanceof Uint8Array) continue;
    const plain = typeof value === "bigint" ? Number(value) : parsed(value);
    if (column.startsWith("time_")) time.push([column.slice("time_".length), plain]);
    else if (column.startsWith("summary_")) summary.push([column.slice("summary_".length), plain]);
    else fields.push([FACTS[column] ?? column, plain]);
  }
  return {
    ...Object.fromEntries(fields),
    time: Object.fromEntries(time),
    ...(summary.length > 0 && { summary: Object.fromEntries(summary) }),
  };
}

/** Objects and arrays are kept as text in the database. */
function parsed(value: string | number): unknown {
  if (typeof value !== "string" || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function* todos(database: SourceDatabase, session: string): Generator<Stored> {
  if (!database.hasTable("todo") || !database.hasColumn("todo", "session_id")) return;
  const rows = [...database.rows("SELECT * FROM todo WHERE session_id = ?", session)];
  if (rows.length === 0) return;
  const value = rows.map(({ session_id: _, ...todo }) => todo) as unknown as Json;
  yield { type: "other", name: "todos", value, version: JSON.stringify(value).length.toString() };
}
