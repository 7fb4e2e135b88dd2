import { join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseCallArguments } from "../../wire/openai-chat/chat-content-decode.ts";
import type { Format } from "../port/format.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { SourceDatabase } from "../reading/source-database.ts";
import { createDatabaseFormat, parseColumn, parseObjectColumn } from "./database-format.ts";
import { buildKeptRecord, buildMessageRecords, buildUsage, toMilliseconds } from "./foreign-records.ts";
import { listDataFolders } from "./lines-format.ts";

const NAME = "cursor";
/** Every bubble has these; they are empty in most of them. */
const KNOWN = [
  "text",
  "type",
  "bubbleId",
  "toolFormerData",
  "thinking",
  "tokenCount",
  "createdAt",
  "timestamp",
];

/** A table of keys and JSON for all conversations, one key for each of them and one for each of their bubbles. */
const globalFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Cursor",
  processes: ["cursor", "Cursor"],
  homes: (system) => listDataFolders(system, "Cursor").map((folder) => join(folder, "User", "globalStorage")),
  fileName: /^state\.vscdb$/,
  tables: { cursorDiskKV: ["key", "value"] },
  async *list(database) {
    const query =
      "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'";
    for await (const row of database.rows(query)) {
      const composer = parseObjectColumn(row.value);
      if (!composer) continue;
      yield {
        id: String(row.key).slice("composerData:".length),
        title: toText(composer.name),
        modifiedAt: toMilliseconds(composer.lastUpdatedAt) ?? toMilliseconds(composer.createdAt),
      };
    }
  },
  async *read(database, { id, path }) {
    const row = await database.first("SELECT value FROM cursorDiskKV WHERE key = ?", `composerData:${id}`);
    const read = parseColumn(row?.value, `conversation ${id}`, path);
    if (!("value" in read)) return yield read;
    const composer = toObject(read.value) ?? {};
    const createdAt = toMilliseconds(composer.createdAt);
    yield { type: "session", ...dropUndefined({ title: toText(composer.name), createdAt }) };
    // Older conversations hold their bubbles themselves; newer ones name them in order.
    const { conversation, fullConversationHeadersOnly: headers, ...facts } = composer;
    yield buildKeptRecord({ id: "composer", at: createdAt, isMutable: true }, facts as Json);
    const inline = toArray(conversation);
    for (const [index, bubble] of inline.entries())
      yield* decodeBubble(toObject(bubble) ?? { text: bubble }, `#${index}`, createdAt);
    if (inline.length > 0) return;
    const named = toArray(headers).flatMap((header) => toText(toObject(header)?.bubbleId) ?? []);
    const seen = new Set<string>();
    for (const bubble of named) {
      seen.add(bubble);
      yield* readBubble(database, id, bubble, path, createdAt);
    }
    yield* readOthers(database, id, seen, path, createdAt);
  },
});

const CHATS = "workbench.panel.aichat.view.aichat.chatdata";

/** The chats of older versions: one value in the database of each workspace. */
const workspaceFormat: Format = createDatabaseFormat({
  name: NAME,
  title: "Cursor",
  homes: (system) =>
    listDataFolders(system, "Cursor").map((folder) => join(folder, "User", "workspaceStorage")),
  fileName: /^state\.vscdb$/,
  tables: { ItemTable: ["key", "value"] },
  async *list(database) {
    const row = await database.first("SELECT value FROM ItemTable WHERE key = ?", CHATS);
    for (const tab of toArray(parseObjectColumn(row?.value)?.tabs).map(toObject))
      if (toText(tab?.tabId))
        yield {
          id: `tab/${tab?.tabId}`,
          title: toText(tab?.chatTitle),
          modifiedAt: toMilliseconds(tab?.lastSendTime),
        };
  },
  async *read(database, { id }) {
    const row = await database.first("SELECT value FROM ItemTable WHERE key = ?", CHATS);
    const tabs = toArray(parseObjectColumn(row?.value)?.tabs).map((tab) => toObject(tab) ?? {});
    const { bubbles, ...facts } = tabs.find(({ tabId }) => id === `tab/${tabId}`) ?? {};
    const at = toMilliseconds(facts.lastSendTime);
    yield buildKeptRecord({ id: "tab", at, isMutable: true }, facts as Json);
    for (const [index, value] of toArray(bubbles).entries()) {
      const bubble = toObject(value) ?? { text: value };
      yield* decodeBubble({ ...bubble, type: bubble.type === "user" ? 1 : 2 }, `#${index}`, at);
    }
  },
});

/** Cursor's editor: the conversations of all workspaces, and the chats that older versions kept in each. */
export const cursorFormat: Format = {
  ...globalFormat,
  homes: (system) => [...globalFormat.homes(system), ...workspaceFormat.homes(system)],
  detect: async (folder) => [
    ...(await globalFormat.detect(folder)),
    ...(await workspaceFormat.detect(folder)),
  ],
  read: (source, input) =>
    (source.id.startsWith("tab/") ? workspaceFormat : globalFormat).read(source, input),
};

async function* readBubble(
  database: SourceDatabase,
  id: string,
  bubble: string,
  path: string,
  at: number | undefined,
): AsyncGenerator<Item> {
  const row = await database.first(
    "SELECT value FROM cursorDiskKV WHERE key = ?",
    `bubbleId:${id}:${bubble}`,
  );
  if (!row) return;
  const read = parseColumn(row.value, `bubble ${bubble}`, path);
  if (!("value" in read)) yield read;
  else yield* decodeBubble(toObject(read.value) ?? {}, bubble, at);
}

/** Bubbles that the conversation does not name, such as those of a branch that was left. */
async function* readOthers(
  database: SourceDatabase,
  id: string,
  seen: ReadonlySet<string>,
  path: string,
  at: number | undefined,
): AsyncGenerator<Item> {
  const prefix = `bubbleId:${id}:`;
  const keys: string[] = [];
  for await (const row of database.rows(
    "SELECT key FROM cursorDiskKV WHERE key >= ? AND key < ?",
    prefix,
    `bubbleId:${id};`,
  ))
    if (!seen.has(String(row.key).slice(prefix.length))) keys.push(String(row.key).slice(prefix.length));
  for (const key of keys) {
    const items: Item[] = [];
    for await (const item of readBubble(database, id, key, path, at)) items.push(item);
    if (seen.size === 0) yield* items;
    else
      for (const item of items)
        yield item.type === "record" && item.body.kind === "message"
          ? { ...item, body: { kind: "raw", value: { bubble: item.body.message as unknown as Json } } }
          : item;
  }
}

function* decodeBubble(bubble: JsonObject, name: string, createdAt: number | undefined): Generator<Item> {
  const id = toText(bubble.bubbleId) ?? name;
  const at = toTime(bubble.createdAt) ?? toMilliseconds(bubble.timestamp) ?? createdAt;
  const role = bubble.type === 1 ? "user" : "assistant";
  const text = toText(bubble.text) ?? toText(bubble.rawText);
  const thinking = toObject(bubble.thinking);
  const tool = toObject(bubble.toolFormerData);
  const callId = toText(tool?.toolCallId);
  const parts: PartInput[] = [];
  if (toText(thinking?.text)) {
    const signature = toText(thinking?.signature);
    parts.push({
      type: "reasoning",
      text: String(thinking?.text),
      ...(signature !== undefined && { opaque: { signature } }),
    });
  }
  if (text !== undefined) parts.push({ type: "text", text });
  if (callId !== undefined) {
    const { input } = parseCallArguments(tool?.rawArgs ?? tool?.params);
    parts.push({ type: "tool-call", callId, name: String(tool?.name ?? ""), input });
  }
  const counts = toObject(bubble.tokenCount);
  const usage =
    counts &&
    buildUsage({ inputTokens: toNumber(counts.inputTokens), outputTokens: toNumber(counts.outputTokens) });
  const rest = keepFilled(
    omitFields(bubble, callId === undefined ? KNOWN.filter((field) => field !== "toolFormerData") : KNOWN),
  );
  yield* buildMessageRecords(NAME, { id, at, role, parts, rest, usage, isMutable: true });
  const result = callId === undefined ? undefined : (tool?.result ?? tool?.error);
  if (callId === undefined || result === undefined || result === null || result === "") return;
  const output = typeof result === "string" ? result : JSON.stringify(result);
  const isError = tool?.status === "error";
  yield* buildMessageRecords(NAME, {
    id: `${id}:result`,
    at,
    role: "tool",
    parts: [
      {
        type: "tool-result",
        callId,
        name: String(tool?.name ?? ""),
        ...(isError && { isError: true }),
        output,
      },
    ],
    rest: tool && omitFields(tool, ["toolCallId", "name", "rawArgs", "result"]),
    isMutable: true,
  });
}

/** Fields that say something: Cursor writes dozens of empty lists and switches into each bubble. */
function keepFilled(
  fields: { readonly [field: string]: Json } | undefined,
): { readonly [field: string]: Json } | undefined {
  const held = Object.entries(fields ?? {}).filter(
    ([, value]) =>
      value !== null &&
      value !== "" &&
      value !== false &&
      !(typeof value === "object" && Object.keys(value).length === 0),
  );
  return held.length > 0 ? Object.fromEntries(held) : undefined;
}
