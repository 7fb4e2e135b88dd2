import { join } from "node:path";
import * as zlib from "node:zlib";
import type { Json, PartInput, ToolResultInput } from "../../kernel/index.ts";
import { describeJsonFault, parseJson } from "../../model/base/parse-json.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createDatabaseFormat } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage } from "./foreign-records.ts";

const NAME = "zed";

/** Zed: one row for each thread, with the whole thread as a document, compressed since 2025. */
export const zedFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Zed",
  processes: ["zed", "zed-editor"],
  homes({ home, platform, env }) {
    if (platform === "darwin") return [join(home, "Library", "Application Support", "Zed", "threads")];
    if (platform === "win32")
      return [join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "Zed", "threads")];
    return [
      join(env.FLATPAK_XDG_DATA_HOME || env.XDG_DATA_HOME || join(home, ".local", "share"), "zed", "threads"),
    ];
  },
  fileName: /^threads\.db$/,
  tables: { threads: ["id", "summary", "updated_at", "data_type", "data"] },
  async *list(database) {
    const more = ["parent_id", "folder_paths"].filter((column) => database.hasColumn("threads", column));
    const columns = ["id", "summary", "updated_at", ...more].join(", ");
    for await (const row of database.rows(`SELECT ${columns} FROM threads ORDER BY updated_at, id`))
      yield {
        id: String(row.id),
        title: toText(row.summary),
        parent: toText(row.parent_id),
        cwd: toText(String(row.folder_paths ?? "").split("\n")[0]),
        modifiedAt: toTime(row.updated_at),
      };
  },
  async *read(database, { id, path }, input) {
    const row = await database.first("SELECT * FROM threads WHERE id = ?", id);
    if (!row) return;
    const problem = (reason: string): Item => ({
      type: "problem",
      path,
      severity: "lost",
      reason: `thread ${id}: ${reason}`,
    });
    let thread: JsonObject | undefined;
    try {
      thread = toObject(parseJson(unpack(row.data, row.data_type, input.limits.maxRecordBytes)));
    } catch (error) {
      return yield problem(
        error instanceof SyntaxError ? describeJsonFault(error) : (error as Error).message,
      );
    }
    if (!thread) return yield problem("not a JSON object");
    const { messages, ...facts } = thread;
    const at = toTime(row.created_at) ?? toTime(row.updated_at);
    yield {
      type: "session",
      ...(toText(row.summary) && { title: String(row.summary) }),
      ...(at && { createdAt: at }),
    };
    yield buildKeptRecord({ id: "thread", at, isMutable: true }, facts as Json);
    const usages = toObject(thread.request_token_usage);
    for (const [index, message] of toArray(messages).entries())
      yield* decodeMessage(message, index, at, usages);
  },
});

function unpack(data: unknown, type: unknown, maxOutputLength: number): string {
  if (type === "json")
    return typeof data === "string" ? data : Buffer.from(data as Uint8Array).toString("utf8");
  if (type !== "zstd" || !(data instanceof Uint8Array))
    throw new Error(`its data has the unknown type ${JSON.stringify(type)}`);
  if (!("zstdDecompressSync" in zlib))
    throw new Error("this Node cannot unpack zstd; install 22.15 or newer");
  return zlib.zstdDecompressSync(data, { maxOutputLength }).toString("utf8");
}

function* decodeMessage(
  value: unknown,
  index: number,
  at: number | undefined,
  usages: JsonObject | undefined,
): Generator<Item> {
  const message = toObject(value);
  const [user, agent] = [toObject(message?.User), toObject(message?.Agent)];
  const place = { id: toText(user?.id) ?? `#${index}`, at, isMutable: true };
  if (user) {
    const parts = toArray(user.content).map((piece) => decodePiece(piece));
    const counts = toObject(usages?.[place.id]);
    const usage =
      counts &&
      buildUsage({
        inputTokens: toNumber(counts.input_tokens),
        outputTokens: toNumber(counts.output_tokens),
        cacheReadTokens: toNumber(counts.cache_read_input_tokens),
        cacheWriteTokens: toNumber(counts.cache_creation_input_tokens),
      });
    const rest = omitFields(user, ["id", "content"]);
    yield* buildMessageRecords(NAME, { ...place, role: "user", parts, rest, usage });
  } else if (agent) {
    const parts = toArray(agent.content).map((piece) => decodePiece(piece));
    const rest = omitFields({ ...agent, ...findCallFields(agent.content) }, ["content", "tool_results"]);
    yield* buildMessageRecords(NAME, { ...place, role: "assistant", parts, rest });
    const results = Object.entries(toObject(agent.tool_results) ?? {}).map(([callId, result]) =>
      decodeResult(callId, toObject(result) ?? {}),
    );
    yield* buildMessageRecords(NAME, { ...place, id: `#${index}:results`, role: "tool", parts: results });
  } else if (Array.isArray(message?.segments)) {
    const parts = message.segments.map((segment) => decodePiece(segment));
    const role = message.role === "assistant" || message.role === "system" ? message.role : "user";
    const rest = omitFields(message, ["role", "segments"]);
    yield* buildMessageRecords(NAME, { ...place, role, parts, rest });
  } else yield buildKeptRecord(place, value as Json);
}

/** The fields of calls that parts have no place for, such as signatures, by the id of the call. */
function findCallFields(content: unknown): { readonly calls?: Json } {
  const calls = toArray(content).flatMap((piece) => {
    const call = toObject(toObject(piece)?.ToolUse) ?? {};
    const isCopy = call.raw_input === JSON.stringify(call.input);
    const rest = omitFields(call, [
      "id",
      "name",
      "input",
      "is_input_complete",
      ...(isCopy ? ["raw_input"] : []),
    ]);
    return rest ? [[String(call.id), rest as Json] as const] : [];
  });
  return calls.length > 0 ? { calls: Object.fromEntries(calls) } : {};
}

/** Decodes a piece of content: tagged from outside now, from inside in older documents. */
function decodePiece(value: unknown): PartInput {
  const piece = toObject(value) ?? {};
  const raw: PartInput = { type: "raw", format: NAME, value: value as Json };
  const text = piece.Text ?? (piece.type === "text" ? piece.text : undefined);
  if (typeof text === "string") return { type: "text", text };
  const thinking = toObject(piece.Thinking) ?? (piece.type === "thinking" ? piece : undefined);
  if (typeof thinking?.text === "string")
    return {
      type: "reasoning",
      text: thinking.text,
      ...(toText(thinking.signature) && { opaque: { signature: String(thinking.signature) } }),
    };
  const call = toObject(piece.ToolUse);
  if (call && toText(call.id))
    return {
      type: "tool-call",
      callId: String(call.id),
      name: String(call.name ?? ""),
      input: (call.input ?? {}) as Json,
    };
  const mention = toObject(piece.Mention);
  if (typeof mention?.content === "string")
    return { type: "text", text: `${JSON.stringify(mention.uri)}\n${mention.content}` };
  const image = toObject(piece.Image);
  return (image && buildDataPart(image.source, "image/png")) ?? raw;
}

function decodeResult(callId: string, result: JsonObject): ToolResultInput {
  // A list since 2026, one piece before.
  const shown = (Array.isArray(result.content) ? result.content : [result.content]).map((piece) => {
    const fields = toObject(piece);
    const text = typeof piece === "string" ? piece : (fields?.Text ?? fields?.text);
    if (typeof text === "string") return { type: "text", text } as const;
    const image = toObject(fields?.Image ?? fields?.image) ?? fields;
    return (
      buildDataPart(image?.source, "image/png") ??
      ({ type: "raw", format: NAME, value: piece as Json } as const)
    );
  });
  const output = result.output;
  const isSame =
    output === undefined ||
    output === null ||
    shown.some((piece) => "text" in piece && piece.text === output);
  return {
    type: "tool-result",
    callId,
    ...(toText(result.tool_name) && { name: String(result.tool_name) }),
    ...(result.is_error === true && { isError: true }),
    output: isSame ? shown : [...shown, { type: "raw", format: NAME, value: { output: output as Json } }],
  };
}
