import { dirname } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { SUM_META } from "../../model/usage.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { Format } from "../port/format.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createDatabaseFormat, parseColumn } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage, toMilliseconds } from "./foreign-records.ts";
import { dropNulls } from "./goose-format.ts";

const NAME = "crush";

/** Crush: a database in `.crush` of each project; messages hold typed parts, and summaries are messages. */
export const crushFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Crush",
  processes: ["crush"],
  // The database of each project is in the project, whose author may have put it there: its path has to be named.
  homes: () => [],
  fileName: /^crush\.db$/,
  tables: { sessions: ["id", "title", "parent_session_id"], messages: ["session_id", "role", "parts"] },
  async *list(database) {
    for await (const row of database.rows("SELECT * FROM sessions ORDER BY created_at, id"))
      yield {
        id: String(row.id),
        title: toText(row.title),
        parent: toText(row.parent_session_id),
        modifiedAt: toMilliseconds(row.updated_at),
      };
  },
  async *read(database, { id, path }) {
    const session = await database.first("SELECT * FROM sessions WHERE id = ?", id);
    if (!session) return;
    const createdAt = toMilliseconds(session.created_at);
    const { title, ...facts } = session;
    const project = path.includes(".crush") ? dirname(dirname(path)) : undefined;
    yield {
      type: "session",
      ...dropUndefined({ title: toText(title), createdAt }),
      meta: { [NAME]: { ...dropNulls(facts), ...(project !== undefined && { cwd: project }) } },
    };
    let last: string | undefined;
    for await (const row of database.rows(
      "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid",
      id,
    )) {
      const content = parseColumn(row.parts, `message ${row.id}`, path);
      if (!("value" in content)) {
        yield content;
        continue;
      }
      const own = String(row.id);
      const decoded = toArray(content.value).map((part) => decodePart(toObject(part)));
      const parts = decoded.flatMap(({ part }) => part ?? []);
      const extras = decoded.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
      const role = String(row.role);
      const {
        id: _,
        session_id: __,
        parts: ___,
        role: ____,
        created_at,
        updated_at,
        model,
        provider,
        ...rest
      } = row;
      const isSummary = Number(row.is_summary_message ?? 0) === 1;
      yield* buildMessageRecords(NAME, {
        id: own,
        at: toMilliseconds(created_at),
        role: role === "user" || role === "system" || role === "tool" ? role : "assistant",
        parts,
        model: toText(model),
        rest: {
          ...dropNulls({ ...rest, provider }),
          ...(extras.length > 0 && { extras: Object.fromEntries(extras) }),
        },
        isMutable: true,
      });
      if (isSummary && last !== undefined)
        yield {
          type: "record",
          id: `${own}:summary`,
          body: {
            kind: "overlay",
            reason: "compaction",
            edit: { type: "summarize", spans: [{ through: last }], record: own },
          },
        };
      if (parts.length > 0) last = own;
    }
    yield* readFiles(database, id);
    const usage = buildUsage({
      inputTokens: Number(session.prompt_tokens ?? 0),
      outputTokens: Number(session.completion_tokens ?? 0),
      cost: Number(session.cost ?? 0),
    });
    if (usage)
      yield {
        type: "record",
        id: "usage",
        version: JSON.stringify(usage),
        body: { kind: "usage", usage, meta: SUM_META },
      };
  },
});

/** Yields the versions of files that Crush keeps for undoing changes. */
async function* readFiles(
  database: Parameters<Parameters<typeof createDatabaseFormat>[0]["read"]>[0],
  id: string,
) {
  if (!database.hasColumn("files", "session_id")) return;
  for await (const row of database.rows(
    "SELECT * FROM files WHERE session_id = ? ORDER BY path, version",
    id,
  ))
    yield buildKeptRecord(
      { id: `file:${row.id}`, at: toMilliseconds(row.created_at) },
      { file: dropNulls(row) },
    );
}

interface DecodedPart {
  readonly part?: PartInput;
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

function decodePart(value: JsonObject | undefined): DecodedPart {
  const data = toObject(value?.data);
  const raw: PartInput = { type: "raw", format: NAME, value: value as Json };
  if (!value || !data) return { part: raw };
  switch (value.type) {
    case "text":
      return typeof data.text === "string" ? { part: { type: "text", text: data.text } } : { part: raw };
    case "reasoning": {
      const opaque = omitFields(data, ["thinking", "started_at", "finished_at"]);
      const isSigned = opaque && Object.values(opaque).some((field) => field !== "" && field !== null);
      return { part: { type: "reasoning", text: String(data.thinking ?? ""), ...(isSigned && { opaque }) } };
    }
    case "tool_call": {
      const { id, name, input } = data;
      const part: PartInput = {
        type: "tool-call",
        callId: String(id),
        name: String(name ?? ""),
        input: parseInput(input),
      };
      return { part, extra: omitFields(data, ["id", "name", "input"]) };
    }
    case "tool_result": {
      const image = buildDataPart(data.data, data.mime_type);
      const text = { type: "text", text: String(data.content ?? "") } as const;
      const part: PartInput = dropUndefined({
        type: "tool-result",
        callId: String(data.tool_call_id),
        name: toText(data.name) ? String(data.name) : undefined,
        isError: data.is_error === true ? true : undefined,
        output: image ? [text, image] : [text],
      });
      return {
        part,
        extra: omitFields(data, [
          "tool_call_id",
          "name",
          "content",
          "is_error",
          ...(image ? ["data", "mime_type"] : []),
        ]),
      };
    }
    case "binary": {
      const part = buildDataPart(data.Data, data.MIMEType, toText(data.Path));
      return { part: part ?? raw };
    }
    case "finish":
      return { extra: { finish: data as Json } };
    default:
      return { part: raw };
  }
}

/** Calls hold their input as JSON text. */
function parseInput(input: unknown): Json {
  const parsed = parseColumn(input, "", "");
  return "value" in parsed && parsed.value !== undefined ? (parsed.value as Json) : String(input ?? "");
}
