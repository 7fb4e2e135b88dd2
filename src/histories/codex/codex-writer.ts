import { findProjectFolder } from "../../model/session-origin.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import { openaiResponsesWire } from "../../wire/openai-responses/openai-responses-wire.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { deriveUuid } from "../writing/derive-uuid.ts";
import { readLineMessages } from "../writing/read-line-messages.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Writes a rollout of Codex, in the folder of its day: the messages of the active line as items of the Responses API. */
export const codexWriter: Writer = {
  name: "codex",
  title: "Codex",
  isFolder: true,
  async *write(session) {
    const { record } = session;
    const id = getThreadId(session);
    const stamp = new Date(record.createdAt).toISOString();
    const day = stamp.slice(0, 10).replaceAll("-", "/");
    const file = `${day}/rollout-${stamp.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`;
    const write = (type: string, payload: JsonObject) => ({
      file,
      text: `${JSON.stringify({ timestamp: stamp, type, payload })}\n`,
    });
    const cwd = findProjectFolder(record) ?? "/";
    yield write("session_meta", {
      id,
      timestamp: stamp,
      cwd,
      originator: "codex_cli_rs",
      cli_version: "0.0.0",
      source: "cli",
      instructions: null,
    });
    const { elements } = await openaiResponsesWire.encodeRequest(readLineMessages(session), session);
    for await (const element of elements) {
      const item = { ...toObject(element) };
      // Codex reads messages only if they say that they are.
      if (item.role !== undefined) item.type = "message";
      if (typeof item.content === "string")
        item.content = [
          { type: item.role === "assistant" ? "output_text" : "input_text", text: item.content },
        ];
      yield write("response_item", item);
      const said = describeMessage(item);
      if (said) yield write("event_msg", said);
    }
  },
};

/** The event that makes a message visible in the list of conversations and on the screen. */
function describeMessage({ type, role, content }: JsonObject): JsonObject | undefined {
  if (type !== "message" || (role !== "user" && role !== "assistant")) return undefined;
  const message = toArray(content)
    .flatMap((block) => toText(toObject(block)?.text) ?? [])
    .join("\n");
  return role === "user" ? { type: "user_message", message, images: [] } : { type: "agent_message", message };
}

function getThreadId({ record }: ExportedSession): string {
  const source = toObject(record.meta?.source);
  const id = source?.format === "codex" ? (toText(source.id) ?? record.id) : record.id;
  return UUID.exec(id)?.[0].toLowerCase() ?? deriveUuid(record.id);
}
