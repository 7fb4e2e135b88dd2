import { join } from "node:path";
import type { Json, PartInput, ToolResultInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { SUM_META } from "../../model/usage.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createDatabaseFormat, parseColumn, parseObjectColumn } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage, toMilliseconds } from "./foreign-records.ts";
import { createLinesFormat } from "./lines-format.ts";

const NAME = "goose";
const homes = ({ home, platform, env }: Parameters<Format["homes"]>[0]) =>
  platform === "win32"
    ? [join(env.APPDATA || join(home, "AppData", "Roaming"), "Block", "goose", "data", "sessions")]
    : [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "goose", "sessions")];

/** Goose since 1.10: a table of sessions and one of messages, whose content is a list of typed blocks. */
const databaseFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Goose",
  processes: ["goose", "goosed"],
  homes,
  fileName: /^sessions\.db$/,
  tables: { sessions: ["id", "working_dir"], messages: ["session_id", "role", "content_json"] },
  async *list(database) {
    for await (const row of database.rows("SELECT * FROM sessions ORDER BY created_at, id"))
      yield {
        id: String(row.id),
        title: toText(row.name) ?? toText(row.description),
        cwd: toText(row.working_dir),
        modifiedAt: parseTimestamp(row.updated_at),
      };
  },
  async *read(database, { id, path }) {
    const session = await database.first("SELECT * FROM sessions WHERE id = ?", id);
    if (!session) return;
    const { name, description, recipe_json, extension_data, ...facts } = session;
    const title = toText(name) ?? toText(description);
    const createdAt = parseTimestamp(session.created_at);
    yield { type: "session", ...dropUndefined({ title, createdAt }), meta: { [NAME]: dropNulls(facts) } };
    const large = dropNulls({ recipe_json, extension_data });
    if (Object.keys(large).length > 0) yield buildKeptRecord({ id: "session", isMutable: true }, large);
    const usage = buildUsage({
      inputTokens: Number(session.accumulated_input_tokens ?? 0),
      outputTokens: Number(session.accumulated_output_tokens ?? 0),
    });
    for await (const row of database.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", id)) {
      const content = parseColumn(row.content_json, `message ${row.id}`, path);
      if (!("value" in content)) yield content;
      else
        yield* decodeMessage({
          id: toText(row.message_id) ?? `#${row.id}`,
          role: row.role,
          created: row.created_timestamp,
          content: content.value,
          ...parseObjectColumn(row.metadata_json),
        });
    }
    if (usage)
      yield {
        type: "record",
        id: "usage",
        version: JSON.stringify(usage),
        body: { kind: "usage", usage, meta: SUM_META },
      };
  },
});

/** Goose before 1.10: a JSONL file for each session, which begins with its description. */
const linesFormat: Format = createLinesFormat({
  name: NAME,
  title: "Goose",
  homes: () => [],
  recognize: ([first], file) =>
    first && "working_dir" in first && "description" in first && !("role" in first)
      ? {
          id: toText(first.id) ?? file.name.replace(/\.jsonl$/, ""),
          title: toText(first.description),
          cwd: toText(first.working_dir),
        }
      : undefined,
  begin: () => ({}),
  *decode({ record, line }) {
    if (line === 1 && !("role" in record)) {
      yield { type: "session", meta: { [NAME]: record as { [field: string]: Json } } };
      return;
    }
    yield* decodeMessage({ id: `L${line}`, ...record });
  },
});

/** Goose: a database, and the files of older versions, which stay next to it. */
export const gooseFormat: Format = {
  ...databaseFormat,
  detect: async (folder) => [...(await databaseFormat.detect(folder)), ...(await linesFormat.detect(folder))],
  read: (source, input) => (/\.db$/.test(source.path) ? databaseFormat : linesFormat).read(source, input),
};

function* decodeMessage(message: JsonObject): Generator<Item> {
  const at = toMilliseconds(message.created);
  const id = String(message.id);
  const blocks = toArray(message.content).map((block) => decodeBlock(toObject(block)) ?? buildRawPart(block));
  const results = blocks.filter(({ type }) => type === "tool-result");
  const others = blocks.filter(({ type }) => type !== "tool-result");
  const rest = omitFields(message, ["id", "role", "created", "content"]);
  const role = message.role === "assistant" ? "assistant" : "user";
  yield* buildMessageRecords(NAME, {
    id: others.length > 0 ? `${id}:results` : id,
    at,
    role: "tool",
    parts: results,
    isMutable: true,
  });
  yield* buildMessageRecords(NAME, {
    id,
    at,
    role,
    parts: others,
    rest: others.length > 0 ? rest : undefined,
    isMutable: true,
  });
}

function decodeBlock(block: JsonObject | undefined): PartInput | undefined {
  switch (block?.type) {
    case "text":
      return typeof block.text === "string" ? { type: "text", text: block.text } : undefined;
    case "image":
      return buildDataPart(block.data, block.mimeType);
    case "thinking":
      return {
        type: "reasoning",
        text: String(block.thinking ?? ""),
        ...(toText(block.signature) && { opaque: { signature: String(block.signature) } }),
      };
    case "redactedThinking":
      return { type: "reasoning", text: "", opaque: { redacted: block.data as Json } };
    case "toolRequest":
    case "frontendToolRequest": {
      const call = toObject(toObject(block.toolCall)?.value);
      if (!call || toText(block.id) === undefined) return undefined;
      return {
        type: "tool-call",
        callId: String(block.id),
        name: String(call.name ?? ""),
        input: (call.arguments ?? {}) as Json,
      };
    }
    case "toolResponse":
      return decodeResult(block);
    default:
      return undefined;
  }
}

function decodeResult(block: JsonObject): ToolResultInput | undefined {
  const result = toObject(block.toolResult);
  if (!result || toText(block.id) === undefined) return undefined;
  const value = result.value;
  const content = Array.isArray(value) ? value : toArray(toObject(value)?.content);
  const isError = result.status === "error" || toObject(value)?.isError === true;
  const output = content.map((piece) => {
    const fields = toObject(piece);
    if (typeof fields?.text === "string") return { type: "text", text: fields.text } as const;
    return buildDataPart(fields?.data, fields?.mimeType) ?? buildRawPart(piece);
  });
  const error = toText(result.error);
  return {
    type: "tool-result",
    callId: String(block.id),
    ...(isError && { isError: true }),
    output: error === undefined ? output : [...output, { type: "text", text: error }],
  };
}

function buildRawPart(value: unknown): Extract<PartInput, { type: "raw" }> {
  return { type: "raw", format: NAME, value: value as Json };
}

/** SQLite writes times of day without a zone; they are UTC. */
function parseTimestamp(value: unknown): number | undefined {
  const text = toText(value);
  return (
    toMilliseconds(value) ??
    (text === undefined
      ? undefined
      : toTime(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text.replace(" ", "T")}Z`))
  );
}

/** Fields of a row that hold something JSON can. */
export function dropNulls(row: { readonly [column: string]: unknown }): { [column: string]: Json } {
  const held = Object.entries(row).filter(
    ([, value]) => value !== null && value !== undefined && !(value instanceof Uint8Array),
  );
  return Object.fromEntries(
    held.map(([column, value]) => [column, typeof value === "bigint" ? Number(value) : (value as Json)]),
  );
}
