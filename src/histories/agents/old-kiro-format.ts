import { join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { omitFields, toArray, toObject, toText, toTime } from "../../wire/fields.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createDatabaseFormat, parseColumn } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, toMilliseconds } from "./foreign-records.ts";

const NAME = "kiro";

/** The first version of Kiro's command line: a row for each conversation, whose history is a list of exchanges. */
export const oldKiroFormat: Format = createDatabaseFormat({
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
  const results = toArray(answers?.tool_use_results).map(decodeResult);
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

function decodeResult(value: unknown): PartInput {
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
