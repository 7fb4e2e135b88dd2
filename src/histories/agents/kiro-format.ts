import { join } from "node:path";
import type { Json, PartInput, ToolResultInput } from "../../kernel/index.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { addPart } from "./chat-like-formats.ts";
import { createDatabaseFormat, parseColumn } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, toMilliseconds } from "./foreign-records.ts";
import { createLinesFormat, readHeadObject } from "./lines-format.ts";

const NAME = "kiro";
const ROLES: Readonly<Record<string, "user" | "assistant" | "tool">> = {
  Prompt: "user",
  AssistantMessage: "assistant",
  ToolResults: "tool",
};

interface KiroState {
  /** Ids of the newest messages, and of the calls that are known. */
  ids: string[];
  /** The editor's reply, whose pieces arrive. */
  reply?: { id: string; at: number | null; execution: string; parts: PartInput[] };
}

/** Records of a kind with content of a kind, and the events of the editor. */
const linesFormat: Format = createLinesFormat<KiroState>({
  name: NAME,
  title: "Kiro",
  processes: ["kiro-cli", "kiro"],
  homes: ({ home, env }) => [join(env.KIRO_HOME || join(home, ".kiro"), "sessions")],
  async recognize(first, file, folder) {
    const isLine = first.some(
      ({ kind, data }) => typeof kind === "string" && kind in ROLES && toObject(data),
    );
    if (isLine) {
      const facts = await readHeadObject(folder, file.name.replace(/\.jsonl$/, ".json"));
      return {
        id: toText(facts?.session_id) ?? file.name.replace(/\.jsonl$/, ""),
        title: toText(facts?.title),
        cwd: toText(facts?.cwd),
        parent: toText(facts?.parent_session_id),
      };
    }
    const isEvent = first.some(({ payload }) => toText(toObject(payload)?.type));
    if (file.name !== "messages.jsonl" || !(isEvent || folder.name.startsWith("sess_"))) return undefined;
    const facts = await readHeadObject(folder, "session.json");
    return {
      id: toText(facts?.id) ?? folder.name,
      title: toText(facts?.title),
      cwd: toText(toArray(facts?.workspacePaths)[0]) ?? toText(facts?.cwd) ?? toText(facts?.workspacePath),
    };
  },
  sideFiles: ({ name }) => [name.replace(/\.jsonl$/, ".json"), "session.json"],
  begin: () => ({ ids: [] }),
  *decode({ record, line }, state) {
    const data = toObject(record.data);
    const role = ROLES[String(record.kind)];
    if (!role || !data) {
      yield* decodeEditorLine(record, line, state);
      if (record.kind === "Clear") yield { type: "rewind", to: null };
      return;
    }
    // Pieces of one message share an id; each is its own record.
    const own = toText(data.message_id) ?? `L${line}`;
    const id = state.ids.includes(own) ? `${own}:L${line}` : own;
    state.ids = [...state.ids, own].slice(-200);
    const parts = toArray(data.content).map((piece) => decodePiece(toObject(piece)) ?? buildRawPart(piece));
    yield* buildMessageRecords(NAME, {
      id,
      at: toMilliseconds(toObject(data.meta)?.timestamp),
      role,
      parts,
      rest: {
        ...omitFields(record, ["kind", "data", "version"]),
        ...omitFields(data, ["message_id", "content"]),
      },
    });
  },
  *end(state) {
    yield* finishReply({ ...state });
  },
});

/** Kiro: the lines of its command line and its editor, and the database of the first version. */
export const kiroFormat: Format = {
  ...linesFormat,
  homes: (system) => [...linesFormat.homes(system), ...oldKiroFormat.homes(system)],
  detect: async (folder) => [...(await linesFormat.detect(folder)), ...(await oldKiroFormat.detect(folder))],
  read: (source, input) => (/\.sqlite3$/.test(source.path) ? oldKiroFormat : linesFormat).read(source, input),
};

/** An event of the editor: pieces of one reply, calls and their outputs follow one another. */
function* decodeEditorLine(record: JsonObject, line: number, state: KiroState): Generator<Item> {
  const { type, ...payload } = toObject(record.payload) ?? {};
  const at = toTime(record.timestamp) ?? toMilliseconds(record.timestamp);
  const id = toText(record.id) ?? `L${line}`;
  const content = toText(payload.content);
  const execution = String(payload.executionId ?? "");
  if (type === "assistant" && content !== undefined) {
    if (state.reply && state.reply.execution !== execution) yield* finishReply(state);
    state.reply ??= { id, at: at ?? null, execution, parts: [] };
    const { operationType, reasoningSignature } = payload;
    if (reasoningSignature !== undefined)
      state.reply.parts.push({ type: "reasoning", text: content, opaque: { reasoningSignature } as Json });
    else
      addPart(state.reply.parts, {
        type: operationType === "Reasoning" ? "reasoning" : "text",
        text: content,
      });
    return;
  }
  yield* finishReply(state);
  const callId = toText(payload.toolCallId);
  const rest = omitFields(payload, ["content", "args", "toolCallId"]);
  if (type === "user")
    yield* buildMessageRecords(NAME, {
      id,
      at,
      role: "user",
      parts: content ? [{ type: "text", text: content }] : [],
      rest,
    });
  else if (type === "tool_call" && callId !== undefined && !state.ids.includes(callId)) {
    // A call is written again when its state changes.
    state.ids = [...state.ids, callId].slice(-200);
    const name = toText(payload.toolName) ?? String(payload.title ?? "");
    const input = (payload.args ?? {}) as Json;
    const parts = [{ type: "tool-call", callId, name, input } as const];
    yield* buildMessageRecords(NAME, { id, at, role: "assistant", parts, rest });
  } else if (type === "tool_result" && callId !== undefined) {
    const text = content ?? (payload.content === undefined ? "" : JSON.stringify(payload.content));
    const output = text === "" ? [] : [{ type: "text", text } as const];
    const isError = payload.success === false;
    const parts = [{ type: "tool-result", callId, ...(isError && { isError }), output } as const];
    yield* buildMessageRecords(NAME, { id, at, role: "tool", parts, rest });
  } else yield buildKeptRecord({ id: `L${line}`, at }, record as Json);
}

function* finishReply(state: KiroState): Generator<Item> {
  const { reply } = state;
  delete state.reply;
  if (!reply) return;
  const { id, at, parts } = reply;
  yield* buildMessageRecords(NAME, {
    id,
    at: at ?? undefined,
    role: "assistant",
    parts,
    isMutable: true,
  });
}

function decodePiece(piece: JsonObject | undefined): PartInput | undefined {
  const data = toObject(piece?.data);
  switch (piece?.kind) {
    case "text":
      return typeof piece.data === "string" ? { type: "text", text: piece.data } : undefined;
    case "thinking":
      return typeof data?.text === "string"
        ? {
            type: "reasoning",
            text: data.text,
            ...(Object.keys(data).length > 1 && { opaque: omitFields(data, ["text"]) as Json }),
          }
        : undefined;
    case "toolUse":
      if (toText(data?.toolUseId) === undefined) return undefined;
      return {
        type: "tool-call",
        callId: String(data?.toolUseId),
        name: String(data?.name ?? ""),
        input: (data?.input ?? {}) as Json,
      };
    case "toolResult":
      return data && decodeResult(data);
    default:
      return undefined;
  }
}

function decodeResult(data: JsonObject): ToolResultInput | undefined {
  if (toText(data.toolUseId) === undefined) return undefined;
  const output = toArray(data.content).map((piece) => {
    const fields = toObject(piece);
    if (fields?.kind === "text" && typeof fields.data === "string")
      return { type: "text", text: fields.data } as const;
    if (fields?.kind === "json") return { type: "text", text: JSON.stringify(fields.data) } as const;
    return buildRawPart(piece);
  });
  return {
    type: "tool-result",
    callId: String(data.toolUseId),
    ...(data.status === "error" && { isError: true }),
    output,
  };
}

function buildRawPart(value: unknown): Extract<PartInput, { type: "raw" }> {
  return { type: "raw", format: NAME, value: value as Json };
}

/** The first version of Kiro's command line: a row for each conversation, whose history is a list of exchanges. */
const oldKiroFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Kiro",
  homes: ({ home, env }) => [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "kiro-cli")],
  fileName: /^data\.sqlite3$/,
  tables: { conversations_v2: ["key", "conversation_id", "value"] },
  async *list(database) {
    const query = "SELECT key, conversation_id, updated_at FROM conversations_v2 ORDER BY created_at";
    for await (const row of database.rows(query))
      yield {
        id: String(row.conversation_id),
        cwd: toText(row.key),
        modifiedAt: toMilliseconds(row.updated_at),
      };
  },
  async *read(database, { id, path }) {
    const row = await database.first("SELECT value FROM conversations_v2 WHERE conversation_id = ?", id);
    const read = parseColumn(row?.value, `conversation ${id}`, path);
    if (!("value" in read)) return yield read;
    const { history, ...facts } = toObject(read.value) ?? {};
    yield buildKeptRecord({ id: "conversation", isMutable: true }, facts as Json);
    for (const [index, exchange] of toArray(history).entries())
      yield* decodeExchange(toObject(exchange) ?? { value: exchange }, index);
  },
});

/** Decodes a prompt, or results, and the reply to it. */
function* decodeExchange(exchange: JsonObject, index: number): Generator<Item> {
  const user = toObject(exchange.user);
  const assistant = toObject(exchange.assistant);
  const content = toObject(user?.content);
  const prompt = toObject(content?.Prompt) ?? toObject(content?.CancelledToolUses);
  const answers = toObject(content?.ToolUseResults) ?? toObject(content?.CancelledToolUses);
  const at = toTime(user?.timestamp);
  const text = toText(prompt?.prompt);
  const results = toArray(answers?.tool_use_results).map(decodeOldResult);
  const rest = {
    ...omitFields(exchange, ["user", "assistant"]),
    ...(user && omitFields(user, ["content", "timestamp"])),
  };
  yield* buildMessageRecords(NAME, {
    id: `#${index}:results`,
    at,
    role: "tool",
    parts: results,
    isMutable: true,
  });
  if (text !== undefined)
    yield* buildMessageRecords(NAME, {
      id: `#${index}`,
      at,
      role: "user",
      parts: [{ type: "text", text }],
      rest,
      isMutable: true,
    });
  else yield buildKeptRecord({ id: `#${index}`, at, isMutable: true }, rest);
  const said = toObject(assistant?.Response) ?? toObject(assistant?.ToolUse);
  const words = toText(said?.content);
  const calls = toArray(said?.tool_uses).map((call): PartInput => {
    const { id, name, args } = toObject(call) ?? {};
    return { type: "tool-call", callId: String(id), name: String(name ?? ""), input: (args ?? {}) as Json };
  });
  yield* buildMessageRecords(NAME, {
    id: `#${index}:reply`,
    at,
    role: "assistant",
    parts: [...(words === undefined ? [] : [{ type: "text", text: words } as const]), ...calls],
    rest: said ? omitFields(said, ["content"]) : (assistant as { [field: string]: Json } | undefined),
    isMutable: true,
  });
}

function decodeOldResult(value: unknown): PartInput {
  const { tool_use_id: callId, content, status } = toObject(value) ?? {};
  const output = toArray(content).map((piece) => {
    const fields = toObject(piece);
    const text = typeof fields?.Text === "string" ? fields.Text : JSON.stringify(fields?.Json ?? piece);
    return { type: "text", text } as const;
  });
  return {
    type: "tool-result",
    callId: String(callId),
    ...(status === "Error" && { isError: true }),
    output,
  };
}
