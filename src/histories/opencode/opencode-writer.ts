import type { Part } from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { ExportedSession, Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";

const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
/** Named in messages if no model of opencode is known. */
const UNKNOWN_MODEL = { providerID: "longhaul", modelID: "unknown" };

/** Writes a file for `opencode import`: the messages of the active line, each call with its result. */
export const opencodeWriter: Writer = {
  name: "opencode",
  title: "opencode",
  isFolder: true,
  async *write(session) {
    const { record } = session;
    const source = toObject(record.meta?.source);
    const own = source?.format === "opencode" ? toText(source.id) : undefined;
    const id = own ?? (record.id.startsWith("ses_") ? record.id : `ses_${computeDigest(record.id, 26)}`);
    const directory = findProjectFolder(record) ?? "/";
    const info = {
      id,
      slug: id.slice(4),
      projectID: "global",
      directory,
      title: record.title ?? id,
      version: "1.0.0",
      time: { created: record.createdAt, updated: record.createdAt },
    };
    const [, providerID, modelID] = /^([^/]+)\/(.+)$/.exec(toText(record.meta?.model) ?? "") ?? [];
    const model = providerID && modelID ? { providerID, modelID } : UNKNOWN_MODEL;
    const messages = encodeMessages(session, { sessionID: id, cwd: directory, model });
    yield* writeJsonArray(`${id}.json`, messages, `{"info":${JSON.stringify(info)},"messages":`, "}");
  },
};

interface OpenMessage {
  readonly info: JsonObject;
  readonly parts: JsonObject[];
}

/** Yields the messages; a message of the assistant waits for the results of its calls. */
async function* encodeMessages(
  session: ExportedSession,
  { sessionID, cwd, model }: { readonly sessionID: string; readonly cwd: string; readonly model: JsonObject },
): AsyncGenerator<OpenMessage> {
  const nextId = countIds(session.record.createdAt);
  let said: OpenMessage | undefined;
  let parentID: string | undefined;
  for await (const entry of session.entries("line")) {
    if (entry.kind !== "message" || entry.message.role === "system") continue;
    const { role, parts } = entry.message;
    for (const part of parts) if (part.type === "tool-result") await addResult(part, said, session);
    if (role === "tool") continue;
    const content: JsonObject[] = [];
    const isModel = role === "assistant";
    const messageID = nextId("msg");
    for (const stored of parts) {
      const encoded = await encodePart(await session.restore(stored), entry.at, session);
      if (encoded) content.push({ id: nextId("prt"), sessionID, messageID, ...encoded });
    }
    if (content.length === 0) continue;
    if (said) yield said;
    const base = { id: messageID, sessionID, role, time: { created: entry.at } };
    if (isModel) {
      const time = { created: entry.at, completed: entry.at };
      const facts = {
        parentID: parentID ?? messageID,
        mode: "build",
        agent: "build",
        path: { cwd, root: cwd },
        cost: 0,
      };
      const info = { ...base, time, ...facts, ...model, tokens: NO_TOKENS, finish: "stop" };
      said = { info, parts: content };
    } else {
      yield { info: { ...base, agent: "build", model }, parts: content };
      said = undefined;
      parentID = messageID;
    }
  }
  if (said) yield said;
}

async function encodePart(part: Part, at: number, session: ExportedSession): Promise<JsonObject | undefined> {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "tool-call") {
    const input = toObject(part.input) ?? { input: part.input };
    const state = { status: "error", input, error: "no result recorded", time: { start: at, end: at } };
    return { type: "tool", callID: part.callId, tool: part.name, state };
  }
  if (part.type !== "blob" || part.of !== undefined) return undefined;
  const url = `data:${part.mime};base64,${await session.base64(part)}`;
  return dropUndefined({ type: "file", mime: part.mime, filename: part.name, url });
}

/** Puts a result into its call. */
async function addResult(
  { callId, output, isError }: Extract<Part, { type: "tool-result" }>,
  said: OpenMessage | undefined,
  session: ExportedSession,
): Promise<void> {
  const index = said?.parts.findIndex(({ callID }) => callID === callId) ?? -1;
  const part = said?.parts[index];
  if (!said || !part) return;
  const texts: string[] = [];
  const attachments: JsonObject[] = [];
  for (const piece of output) {
    const restored = await session.restore(piece);
    const media = await encodePart(restored, 0, session);
    if (media?.type === "file") {
      const { sessionID, messageID } = part;
      attachments.push({ id: `${part.id}${attachments.length}`, sessionID, messageID, ...media });
    } else if (restored.type === "text") texts.push(restored.text);
    else texts.push(JSON.stringify(restored));
  }
  const { input, time } = toObject(part.state) ?? {};
  const text = texts.join("\n");
  said.parts[index] = {
    ...part,
    state: isError
      ? { status: "error", input, error: text, time }
      : {
          status: "completed",
          input,
          output: text,
          title: String(part.tool),
          metadata: {},
          time,
          ...(attachments.length > 0 && { attachments }),
        },
  };
}

/** Counts ids that sort in the order of their making, as opencode's do. */
function countIds(createdAt: number): (prefix: string) => string {
  let count = BigInt(createdAt) * 0x1000n;
  return (prefix) => {
    count++;
    const hex = (count & 0xffff_ffff_ffffn).toString(16).padStart(12, "0");
    return `${prefix}_${hex}longhaul000000`;
  };
}
