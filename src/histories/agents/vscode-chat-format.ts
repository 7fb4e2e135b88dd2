import { basename, dirname, join } from "node:path";
import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toObject, toText } from "../../wire/fields.ts";
import { listEditorFolders } from "../cline/editor-folders.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildKeptRecord, buildMessageRecords, toMilliseconds } from "./foreign-records.ts";

const NAME = "vscode-chat";
const FOLDERS = ["chatSessions", "emptyWindowChatSessions"];

/** Chats of GitHub Copilot in VS Code: a log of changes to one document, or the document itself in older versions. */
export const vscodeChatFormat: Format = {
  name: NAME,
  title: "VS Code Copilot Chat",
  processes: ["code"],
  homes: (system) =>
    listEditorFolders("", system).flatMap((storage) => [
      join(dirname(storage), "workspaceStorage"),
      join(storage, "emptyWindowChatSessions"),
    ]),
  retention: async () => ({ mostPerProject: 25, rule: "the newest 25 of each workspace are kept" }),
  async detect(folder: Folder) {
    if (!FOLDERS.includes(folder.name)) return [];
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!/\.jsonl?$/.test(file.name)) continue;
      // An older document of the same chat was migrated to a log.
      if (file.name.endsWith(".json") && folder.files.some(({ name }) => name === `${file.name}l`)) continue;
      const head = await folder.head(file);
      const first = toObject(parseCutJson(file.name.endsWith("l") ? (head.split("\n", 1)[0] ?? "") : head));
      const state = first?.kind === 0 ? toObject(first.v) : first;
      if (!state || !("requests" in state || "sessionId" in state)) continue;
      const id = toText(state.sessionId) ?? basename(file.name).replace(/\.jsonl?$/, "");
      sources.push(buildFileSource(NAME, file, { id, title: toText(state.customTitle) }));
    }
    return sources;
  },
  async *read({ path }, input) {
    const chat = yield* readChat(path, input);
    if (!chat) return;
    const { requests, ...facts } = chat;
    const title = toText(chat.customTitle);
    const createdAt = toMilliseconds(chat.creationDate);
    yield dropUndefined({ type: "session", title, createdAt: createdAt || undefined });
    yield buildKeptRecord({ id: "chat", at: createdAt, isMutable: true }, facts as Json);
    for (const [index, request] of toArray(requests).entries())
      yield* decodeRequest(toObject(request) ?? {}, index);
  },
};

/** Keys that would change the prototype of an object instead of its content. */
const FORBIDDEN = new Set<unknown>(["__proto__", "constructor", "prototype"]);
/** No change leads deeper into a document. */
const MAX_DEPTH = 64;

/** Reads the document: it is the last state of a log, or the file itself. */
async function* readChat(path: string, input: Input): AsyncGenerator<Item, JsonObject | undefined> {
  if (/\.json(\.(gz|zst))?$/i.test(path)) {
    const read = await input.json(path);
    if (read && "type" in read) yield read;
    return read && "value" in read ? toObject(read.value) : undefined;
  }
  let state: unknown;
  for await (const batch of input.jsonLines(path))
    for (const { record, problem, line, isCut } of batch) {
      const reason =
        problem ??
        (record &&
          applyMutation(record, state, (next) => {
            state = next;
          }));
      if (reason !== undefined && !(isCut && input.isLive))
        yield { type: "problem", path, line, severity: "damaged", reason };
    }
  return toObject(state);
}

function* decodeRequest(request: JsonObject, index: number): Generator<Item> {
  const id = toText(request.requestId) ?? `#${index}`;
  const at = toMilliseconds(request.timestamp);
  const message = toObject(request.message);
  const text = toText(message?.text) ?? toText(request.message);
  yield* buildMessageRecords(NAME, {
    id,
    at,
    role: "user",
    parts: text === undefined ? [] : [{ type: "text", text }],
    rest: omitFields(request, [
      "requestId",
      "timestamp",
      "message",
      "response",
      "modelId",
      ...(text === undefined ? [] : []),
    ]),
    isMutable: true,
  });
  const parts: PartInput[] = [];
  const extras: Json[] = [];
  const results: PartInput[] = [];
  for (const value of toArray(request.response)) decodeResponse(value, { parts, extras, results });
  const model = toText(request.modelId);
  yield* buildMessageRecords(NAME, {
    id: `${id}:response`,
    at,
    role: "assistant",
    parts,
    model,
    rest: extras.length > 0 ? { response: extras } : undefined,
    isMutable: true,
  });
  yield* buildMessageRecords(NAME, {
    id: `${id}:results`,
    at,
    role: "tool",
    parts: results,
    isMutable: true,
  });
}

/** Decodes a piece of a response: markdown has no kind; everything without words or a call is kept as it is. */
function decodeResponse(
  value: unknown,
  to: { parts: PartInput[]; extras: Json[]; results: PartInput[] },
): void {
  const piece = toObject(value);
  const markdown =
    typeof value === "string"
      ? value
      : piece?.kind === undefined || piece.kind === "markdownContent"
        ? (piece?.value ?? toObject(piece?.content)?.value)
        : undefined;
  if (typeof markdown === "string") {
    const last = to.parts.at(-1);
    if (last?.type === "text") to.parts[to.parts.length - 1] = { type: "text", text: last.text + markdown };
    else to.parts.push({ type: "text", text: markdown });
  } else if (piece?.kind === "thinking" && (typeof piece.value === "string" || Array.isArray(piece.value))) {
    to.parts.push({
      type: "reasoning",
      text: toArray(piece.value).length > 0 ? toArray(piece.value).join("") : String(piece.value),
    });
  } else if (piece?.kind === "toolInvocationSerialized" && toText(piece.toolCallId)) {
    const details = toObject(piece.resultDetails);
    const data = toObject(piece.toolSpecificData);
    const input = (data ?? details?.input ?? {}) as Json;
    to.parts.push({
      type: "tool-call",
      callId: String(piece.toolCallId),
      name: String(piece.toolId ?? ""),
      input,
    });
    to.results.push({
      type: "tool-result",
      callId: String(piece.toolCallId),
      output: [{ type: "raw", format: NAME, value: value as Json }],
    });
  } else to.extras.push(value as Json);
}

/**
 * Applies a line of a mutation log to a document: 0 begins it, 1 sets a value, 2 appends to a list after cutting it to
 * `i`, 3 deletes. Returns a sentence about a line that cannot be applied; the document is then unchanged.
 */
export function applyMutation(
  { kind, k, v, i }: JsonObject,
  state: unknown,
  replace: (state: unknown) => void,
): string | undefined {
  if (kind === 0) {
    replace(v);
    return undefined;
  }
  const path = toArray(k);
  const last = path.at(-1);
  const isPath =
    path.length <= MAX_DEPTH &&
    path.every((key) => ["string", "number"].includes(typeof key) && !FORBIDDEN.has(key));
  if (!isPath || (kind !== 1 && kind !== 2 && kind !== 3))
    return `not a change of the kinds 0 to 3: ${String(kind)}`;
  if (last === undefined) {
    if (kind === 1) replace(v);
    return kind === 1 ? undefined : "a change without a place";
  }
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => getChild(at, key), state);
  if (typeof holder !== "object" || holder === null)
    return `leads to no place in the document: ${JSON.stringify(path)}`;
  const fields = holder as Record<string, unknown>;
  const key = String(last);
  if (
    Array.isArray(holder) &&
    !(Number.isInteger(Number(last)) && Number(last) >= 0 && Number(last) <= holder.length)
  )
    return `not a place of a list: ${JSON.stringify(path)}`;
  if (kind === 1) fields[key] = v;
  else if (kind === 3) {
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else delete fields[key];
  } else {
    const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const list: unknown[] = Array.isArray(before) ? before : [];
    if (typeof i === "number" && i >= 0 && i < list.length) list.length = Math.trunc(i);
    for (const value of toArray(v)) list.push(value);
    fields[key] = list;
  }
  return undefined;
}

function getChild(holder: unknown, key: unknown): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key as PropertyKey)
    ? (holder as Record<string, unknown>)[key as string]
    : undefined;
}
