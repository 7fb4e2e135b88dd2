import { join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { decodeChatCall } from "../../wire/openai-chat/chat-content-decode.ts";
import type { Format } from "../port/format.ts";
import { createDatabaseFormat, parseColumn } from "./database-format.ts";
import { buildMessageRecords, toMilliseconds } from "./foreign-records.ts";
import { dropNulls } from "./goose-format.ts";

const NAME = "hermes";

/** Hermes: one database for all sessions; a compression continues in a child session. */
export const hermesFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Hermes",
  processes: ["hermes"],
  homes: ({ home, env }) => [env.HERMES_HOME || join(home, ".hermes")],
  fileName: /^state\.db$/,
  tables: { messages: ["session_id", "role", "content", "tool_calls", "timestamp"] },
  async *list(database) {
    const hasSessions = database.hasColumn("sessions", "id");
    const query =
      "SELECT session_id AS id, max(timestamp) AS last FROM messages GROUP BY session_id ORDER BY min(id)";
    for await (const { id, last } of database.rows(query)) {
      const own = hasSessions
        ? await database.first("SELECT * FROM sessions WHERE id = ?", String(id))
        : undefined;
      yield {
        id: String(id),
        parent: toText(own?.parent_session_id),
        title: toText(own?.title),
        cwd: toText(own?.cwd),
        modifiedAt: toMilliseconds(last),
      };
    }
  },
  async *read(database, { id, path }) {
    const session = database.hasColumn("sessions", "id")
      ? await database.first("SELECT * FROM sessions WHERE id = ?", id)
      : undefined;
    if (session) {
      const createdAt = toMilliseconds(session.started_at);
      yield {
        type: "session",
        ...dropUndefined({ title: toText(session.title), createdAt }),
        meta: { [NAME]: dropNulls(session) },
      };
    }
    for await (const row of database.rows("SELECT * FROM messages WHERE session_id = ? ORDER BY id", id)) {
      const {
        id: number,
        session_id: _,
        role,
        content,
        tool_calls,
        tool_call_id,
        tool_name,
        timestamp,
        ...rest
      } = row;
      const calls = parseColumn(tool_calls, `message ${number}`, path);
      if (!("value" in calls)) yield calls;
      const isResult = role === "tool";
      const text = typeof content === "string" ? content : "";
      const reasoning = toText(row.reasoning) ?? toText(row.reasoning_content);
      const parts: PartInput[] = isResult
        ? [
            {
              type: "tool-result",
              callId: toText(tool_call_id) ?? `#${number}`,
              ...(toText(tool_name) && { name: String(tool_name) }),
              output: text,
            },
          ]
        : [
            ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
            ...(text === "" ? [] : [{ type: "text", text } as const]),
            ...toArray("value" in calls ? calls.value : undefined).map(
              (call): PartInput =>
                decodeChatCall(toObject(call))?.part ?? { type: "raw", format: NAME, value: call as Json },
            ),
          ];
      yield* buildMessageRecords(NAME, {
        id: `#${number}`,
        at: toMilliseconds(timestamp),
        role: isResult ? "tool" : role === "assistant" || role === "system" ? role : "user",
        parts,
        rest: nonEmpty(dropNulls(rest)),
        isMutable: true,
      });
    }
  },
});

function nonEmpty(fields: {
  readonly [field: string]: Json;
}): { readonly [field: string]: Json } | undefined {
  const held = Object.entries(fields).filter(
    ([name, value]) => value !== "" && !name.startsWith("reasoning"),
  );
  return held.length > 0 ? Object.fromEntries(held) : undefined;
}
