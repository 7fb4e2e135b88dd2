import type { Entry, Json, MessageBody, Part } from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { deriveUuid } from "../writing/derive-uuid.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Writes a chat of Gemini CLI: the messages of the active line, each call with its result. */
export const geminiCliWriter: Writer = {
  name: "gemini-cli",
  title: "Gemini CLI",
  isFolder: true,
  async *write(session) {
    const { record } = session;
    const source = toObject(record.meta?.source);
    const named = source?.format === "gemini-cli" ? toText(source.id) : undefined;
    const sessionId = UUID.exec(named ?? record.id)?.[0].toLowerCase() ?? deriveUuid(record.id);
    const startTime = new Date(record.createdAt).toISOString();
    const file = `chats/session-${startTime.slice(0, 16).replaceAll(":", "-")}-${sessionId.slice(0, 8)}.jsonl`;
    const write = (line: JsonObject) => ({ file, text: `${JSON.stringify(line)}\n` });
    const cwd = findProjectFolder(record) ?? "/";
    const projectHash = computeDigest(cwd);
    yield write({ sessionId, projectHash, startTime, lastUpdated: startTime, kind: "main" });
    let said: { readonly line: JsonObject; readonly calls: Map<string, JsonObject> } | undefined;
    for await (const entry of session.entries("line")) {
      if (entry.kind !== "message" || entry.message.role === "system") continue;
      const { parts } = entry.message;
      for (const part of parts) {
        if (part.type !== "tool-result") continue;
        const call = said?.calls.get(part.callId);
        if (call) said?.calls.set(part.callId, { ...call, ...(await encodeResult(part, call, session)) });
      }
      const content = await encodeContent(parts, session);
      const isModel = entry.message.role === "assistant";
      if (!isModel && content.length === 0) continue;
      if (said) yield write(finish(said));
      said = undefined;
      const line = {
        id: deriveUuid(entry.id),
        timestamp: new Date(entry.at).toISOString(),
        type: isModel ? "gemini" : "user",
        content,
      };
      if (isModel) said = { line, calls: listCalls(entry, parts) };
      else yield write(line);
    }
    if (said) yield write(finish(said));
  },
};

function finish({
  line,
  calls,
}: {
  readonly line: JsonObject;
  readonly calls: Map<string, JsonObject>;
}): JsonObject {
  return { ...line, thoughts: [], ...(calls.size > 0 && { toolCalls: [...calls.values()] }) };
}

function listCalls({ at }: Entry<MessageBody>, parts: readonly Part[]): Map<string, JsonObject> {
  return new Map(
    parts.flatMap((part) =>
      part.type === "tool-call"
        ? [
            [
              part.callId,
              {
                id: part.callId,
                name: part.name,
                args: toObject(part.input) ?? { input: part.input },
                status: "cancelled",
                timestamp: new Date(at).toISOString(),
              },
            ] as const,
          ]
        : [],
    ),
  );
}

async function encodeResult(
  { callId, output, isError }: Extract<Part, { type: "tool-result" }>,
  { name }: JsonObject,
  session: ExportedSession,
): Promise<JsonObject> {
  const pieces: string[] = [];
  const media: Json[] = [];
  for (const piece of output) {
    const part = await session.restore(piece);
    if (part.type === "text") pieces.push(part.text);
    else if (part.type === "blob") media.push(await encodeMedia(part, session));
    else pieces.push(JSON.stringify(part));
  }
  const response = { [isError ? "error" : "output"]: pieces.join("\n") };
  const result = [{ functionResponse: { id: callId, name, response } }, ...media];
  return { status: isError ? "error" : "success", result, resultDisplay: pieces.join("\n") };
}

async function encodeContent(parts: readonly Part[], session: ExportedSession): Promise<readonly Json[]> {
  const content: Json[] = [];
  for (const stored of parts) {
    const part = await session.restore(stored);
    if (part.type === "text") content.push({ text: part.text });
    else if (part.type === "blob" && part.of === undefined) content.push(await encodeMedia(part, session));
  }
  return content;
}

async function encodeMedia(part: Extract<Part, { type: "blob" }>, session: ExportedSession): Promise<Json> {
  return { inlineData: { mimeType: part.mime, data: await session.base64(part) } };
}
