import type { Json } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";
import { omitFields, toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import { describeDatabaseFault } from "../reading/describe-database-fault.ts";
import type { Input } from "../reading/input.ts";
import type { ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { DatabaseRow, SourceDatabase } from "../reading/source-database.ts";
import type { StoredItem, StoredMessage } from "./stored-item.ts";

/** Reads one conversation of a database, message by message. */
export async function* readOpencodeDatabase(source: ImportSource, input: Input): AsyncGenerator<StoredItem> {
  const { path, id } = source;
  let database: SourceDatabase | undefined;
  try {
    database = await input.database(path);
    const max = input.limits.maxRecordBytes;
    const session = await database.first("SELECT * FROM session WHERE id = ?", id);
    if (!session) {
      yield { type: "problem", path, severity: "lost", reason: `holds no session ${id}` };
      return;
    }
    yield { type: "session", info: toSessionInfo(session) };
    const parse = (table: string, row: DatabaseRow): JsonObject | ProblemItem =>
      parseRow(row, table, path, max);
    const order = database.hasColumn("message", "time_created") ? "time_created, id" : "id";
    let hasMessages = false;
    for await (const row of database.rows(buildMessageQuery(max, order), id)) {
      hasMessages = true;
      input.signal?.throwIfAborted();
      const info = parse("message", row);
      if (isProblem(info)) {
        yield info;
        continue;
      }
      const parts: JsonObject[] = [];
      for await (const partRow of database.rows(buildPartQuery(max), String(row.id))) {
        const part = parse("part", partRow);
        if (isProblem(part)) yield part;
        else parts.push(part);
      }
      yield { type: "message", message: { info, parts } };
    }
    if (!hasMessages) yield* readLaterMessages(database, source, max);
    yield* readTodos(database, id);
  } catch (error) {
    yield { type: "problem", path, severity: "lost", reason: describeDatabaseFault(error) };
  } finally {
    await database?.close();
  }
}

/** Reads messages that exist only in the tables of later versions. */
async function* readLaterMessages(
  database: SourceDatabase,
  { id, path }: ImportSource,
  max: number,
): AsyncGenerator<StoredItem> {
  const columns = ["id", "session_id", "type", "time_created", "data"];
  if (!columns.every((column) => database.hasColumn("session_message", column))) return;
  const order = database.hasColumn("session_message", "seq") ? "seq" : "time_created, id";
  const query = `SELECT id, type, ${buildDataColumns(max)} FROM session_message WHERE session_id = ? ORDER BY ${order}`;
  for await (const row of database.rows(query, id)) {
    const data = parseRow(row, "session_message", path, max);
    if (isProblem(data)) yield data;
    else {
      const message = decodeSessionMessage(String(row.id), String(row.type), data);
      const value = { ...data, type: String(row.type) } as Json;
      if (message) yield { type: "message", message };
      else yield { type: "other", name: String(row.id), value };
    }
  }
}

/** Avoids loading text above the limit. */
const buildDataColumns = (max: number) =>
  `length(data) AS size, CASE WHEN length(data) <= ${Math.trunc(max)} THEN data END AS data`;

const buildMessageQuery = (max: number, order: string) =>
  `SELECT id, ${buildDataColumns(max)} FROM message WHERE session_id = ? ORDER BY ${order}`;

const buildPartQuery = (max: number) =>
  `SELECT id, ${buildDataColumns(max)} FROM part WHERE message_id = ? ORDER BY id`;

function parseRow(row: DatabaseRow, table: string, path: string, max: number): JsonObject | ProblemItem {
  const problem = (reason: string): ProblemItem => ({
    type: "problem",
    path,
    severity: "lost",
    reason: `${table} ${row.id}: ${reason}`,
  });
  if (typeof row.data !== "string") return problem(`longer than ${max} characters (${row.size}); not read`);
  try {
    const data = toObject(parseJson(row.data));
    return data ? { ...data, id: row.id } : problem("not a JSON object");
  } catch (error) {
    return problem(describeJsonFault(error));
  }
}

function isProblem(value: JsonObject | ProblemItem): value is ProblemItem {
  return value.type === "problem" && "severity" in value;
}

/** Names of columns in session files. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  project_id: "projectID",
  workspace_id: "workspaceID",
  parent_id: "parentID",
};

/** Converts a session row to the shape of a session file; columns of later versions are included. */
function toSessionInfo(row: DatabaseRow): JsonObject {
  const fields: [string, unknown][] = [];
  const time: [string, unknown][] = [];
  const summary: [string, unknown][] = [];
  for (const [column, value] of Object.entries(row)) {
    if (value === null || value instanceof Uint8Array) continue;
    const plain = typeof value === "bigint" ? Number(value) : parseValue(value);
    if (column.startsWith("time_")) time.push([column.slice("time_".length), plain]);
    else if (column.startsWith("summary_")) summary.push([column.slice("summary_".length), plain]);
    else fields.push([FIELD_NAMES[column] ?? column, plain]);
  }
  return {
    ...Object.fromEntries(fields),
    time: Object.fromEntries(time),
    ...(summary.length > 0 && { summary: Object.fromEntries(summary) }),
  };
}

/** Parses objects and arrays, which the database stores as text. */
function parseValue(value: string | number): unknown {
  if (typeof value !== "string" || !/^[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

async function* readTodos(database: SourceDatabase, session: string): AsyncGenerator<StoredItem> {
  if (!database.hasTable("todo") || !database.hasColumn("todo", "session_id")) return;
  const todos: DatabaseRow[] = [];
  for await (const { session_id: _, ...todo } of database.rows(
    "SELECT * FROM todo WHERE session_id = ?",
    session,
  ))
    todos.push(todo);
  if (todos.length > 0) yield { type: "other", name: "todos", value: todos as unknown as Json };
}

/**
 * Converts a row of `session_message`, which replaces `message` and `part` in later versions of opencode, to the shape
 * of those; undefined for rows that are not messages, such as a change of the model.
 */
function decodeSessionMessage(id: string, type: string, data: JsonObject): StoredMessage | undefined {
  const info = (role: string, ...held: readonly string[]): JsonObject => ({
    ...omitFields(data, held),
    id,
    role,
  });
  switch (type) {
    case "user":
      return {
        info: info("user", "text", "files"),
        parts: [toTextPart(data), ...toArray(data.files).map(toFilePart)],
      };
    case "synthetic":
    case "skill":
      return { info: info("user", "text"), parts: [{ ...toTextPart(data), synthetic: true }] };
    case "system":
      return { info: info("system", "text"), parts: [toTextPart(data)] };
    case "shell":
      return { info: info("user", "command", "output"), parts: toShellParts(data) };
    case "assistant": {
      const model = toObject(data.model);
      const who = dropUndefined({ modelID: toText(model?.id), providerID: toText(model?.providerID) });
      return {
        info: { ...info("assistant", "content"), ...who },
        parts: toArray(data.content).map(toContentPart),
      };
    }
    case "compaction":
      if (data.status !== "completed" || toText(data.summary) === undefined) return undefined;
      return {
        // Marks a summary as opencode's older tables do.
        info: { ...info("assistant", "summary", "recent"), summary: true, finish: "stop" },
        parts: [data.summary, data.recent]
          .filter((text) => toText(text))
          .map((text) => ({ type: "text", text })),
      };
    default:
      return undefined;
  }
}

function toTextPart({ text }: JsonObject): JsonObject {
  return { type: "text", text };
}

function toFilePart(value: unknown): JsonObject {
  const file = toObject(value) ?? {};
  return {
    ...file,
    type: "file",
    url: file.url ?? file.uri,
    mime: file.mime ?? file.mediaType,
    filename: file.filename ?? file.name,
  };
}

function toShellParts({ command, output }: JsonObject): readonly JsonObject[] {
  const said = toText(output) ?? toText(toObject(output)?.output) ?? toText(toObject(output)?.text);
  const ran = { type: "text", text: `Ran \`${command}\`` };
  return said === undefined ? [ran] : [ran, { type: "text", text: said }];
}

function toContentPart(value: unknown): unknown {
  const part = toObject(value);
  if (part?.type === "text" || part?.type === "reasoning") {
    const { native, state, ...rest } = part;
    return { ...rest, ...dropUndefined({ metadata: native ?? state }) };
  }
  return part?.type === "tool" ? toToolPart(part) : value;
}

function toToolPart(part: JsonObject): JsonObject {
  const { id, name, state: _, time, ...rest } = part;
  const state = toObject(part.state) ?? {};
  const { content, error, ...others } = state;
  const pieces = toArray(content).map((piece) => toObject(piece) ?? {});
  const texts = pieces.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const files = pieces.filter(({ type }) => type !== "text").map(toFilePart);
  const times = toObject(time);
  return {
    ...rest,
    type: "tool",
    callID: id,
    tool: name,
    state: {
      ...others,
      ...(state.status === "completed" && { output: texts.join("\n") }),
      ...(state.status === "error" && {
        error: toText(toObject(error)?.message) ?? toText(error) ?? "",
        cause: error,
      }),
      ...(files.length > 0 && { attachments: files }),
      time: dropUndefined({
        start: toNumber(times?.ran) ?? toNumber(times?.created),
        end: toNumber(times?.completed),
      }),
    },
  };
}
