import { posix } from "node:path";
import { estimateText, resolveThinkingRule } from "../../../kernel/faces/window.ts";
import { isLonghaulError, type Memories, type SessionId } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toArray, toNumber, toObject, toText } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import { getRecallSettings, type RecallSettings } from "../call/build-call-request.ts";
import type { CallContent } from "../call/call-content.ts";
import type { GatewayConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import { type CutBody, fieldValue } from "../request/cut-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { estimateBytes } from "../request/request-fields.ts";
import { type CallRequest, joinedText, type LaterTools } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { encodeRecallTools, isRecallTool } from "./recall-tools.ts";

/** Maximum share of a window for the gateway's tools; a smaller window gets none. */
const MAX_SHARE = 0.05;
/** Shorter conversations are sent as the client wrote them until their first edit, where nothing is set. */
const LONG_TOKENS = 50_000;

/**
 * Adds the gateway's tools to a request, so that they count in its window, or notes when they may join it. By price,
 * they join without an edit only a long request that no cache holds, where they cost no cached token. Tools that have
 * joined a conversation stay in it. Returns the same object if the model gets none.
 */
export function offerTools(
  callRequest: CallRequest,
  request: Pick<ParsedRequest, "messages" | "fields" | "facts">,
  offer: RecallSettings["offer"],
  thread: Pick<Thread, "meta">,
): CallRequest {
  const { api, frame, limits, chain } = callRequest;
  if (!canOfferTools(request)) return callRequest;
  const { tools, text, tokens } = getOfferedTools(api.name);
  if (tokens > limits.window * MAX_SHARE) return callRequest;
  const isFirst = !chain && isBeginning(request.messages);
  if (offer === "always" || (offer === "start" && isFirst) || thread.meta.hasRecallTools)
    return {
      ...callRequest,
      frame: {
        ...frame,
        toolsBytes: frame.toolsBytes + text.length,
        readTools: () => joinedText(frame.readTools(), text, "after"),
        recallTools: tools,
      },
    };
  if (offer === "kept") return callRequest;
  const mayThink = resolveThinkingRule(limits.thinking, api.name) === "bound";
  // A change of the tools would take all thinking away that the conversation has.
  const isFree = offer === "by price" && (isFirst || !mayThink);
  const join = isFree ? (isFirst ? "long" : "long and cold") : "edited";
  return { ...callRequest, frame: { ...frame, laterTools: { tools, tokens, join } } };
}

/** True if later tools may join a request: an edit has rewritten its beginning, or it is long and uncached. */
export function canJoin(
  { isRewritten, fitted }: Pick<CallContent, "isRewritten" | "fitted">,
  { join, tokens }: LaterTools,
  roomTokens: number,
): boolean {
  if (roomTokens < tokens) return false;
  if (isRewritten) return true;
  if (join === "edited" || !fitted || fitted.tokens < LONG_TOKENS) return false;
  return join === "long" || fitted.cache === "cold";
}

/** True if the request with these messages would get the tools at once as the first one of a conversation. */
export function predictTools(request: ParsedRequest, config: GatewayConfig): boolean {
  const { messages, facts } = request;
  const { offer } = getRecallSettings(config, request.api.name, "main");
  if ((offer !== "always" && facts.toolNames.length === 0) || !canOfferTools(request)) return false;
  if (offer === "always" || !isBeginning(messages)) return offer === "always";
  return offer === "start" || (offer === "by price" && estimateBytes(messages.cut.bytes) >= LONG_TOKENS);
}

/** True for the beginning of a conversation, which may be sent again. A chained request has only new messages. */
function isBeginning({ list }: ParsedRequest["messages"]): boolean {
  return !list.some(({ role }) => role === "assistant");
}

/** The gateway's tools in the format of an API, their JSON and its estimated size. */
interface OfferedTools {
  readonly tools: readonly WireObject[];
  readonly text: string;
  readonly tokens: number;
}

const OFFERED_TOOLS = new Map<WireName, OfferedTools>();

function getOfferedTools(api: WireName): OfferedTools {
  const known = OFFERED_TOOLS.get(api);
  if (known) return known;
  const tools = encodeRecallTools(api);
  const text = JSON.stringify(tools);
  const offered = { tools, text, tokens: estimateText(text) };
  OFFERED_TOOLS.set(api, offered);
  return offered;
}

const OPEN_LIST = 0x5b;
/** Fields of requests whose replies are not read here, or whose conversation is stored elsewhere. */
const UNREADABLE_FIELDS = [
  ...["background", "conversation", "thread", "functions", "function_call"],
  ...["cachedContent", "cached_content"],
];

/**
 * True if the model of a request may be offered the gateway's tools: it is free to choose its calls, no tool of the
 * client has such a name, and no client without tools requires a reply of a fixed form.
 */
function canOfferTools(request: Pick<ParsedRequest, "messages" | "fields" | "facts">): boolean {
  const { messages, fields, facts } = request;
  const { cut, list } = messages;
  const { all } = fields;
  const tools = cut.fields.get("tools");
  if (tools && cut.bytes[tools.from] !== OPEN_LIST) return false;
  const choice = all.tool_choice ?? "auto";
  if (facts.toolNames.some(isRecallTool) || (toObject(choice)?.type ?? choice) !== "auto") return false;
  if (typeof all.n === "number" && all.n > 1) return false;
  if (UNREADABLE_FIELDS.some((name) => all[name] !== undefined && all[name] !== null && all[name] !== false))
    return false;
  if (facts.toolNames.length === 0 && fields.hasOutputFormat) return false;
  if (!canMixTools(cut, all)) return false;
  // The last message is a prefill that the model continues.
  return list.at(-1)?.role !== "assistant";
}

/** Google refuses functions next to its own tools, and calls that the client restricts must not be ours. */
function canMixTools(cut: CutBody, all: ParsedRequest["fields"]["all"]): boolean {
  const config = toObject(all.toolConfig ?? all.tool_config);
  const calling = toObject(config?.functionCallingConfig ?? config?.function_calling_config);
  if ((calling?.mode ?? "AUTO") !== "AUTO") return false;
  return toArray(fieldValue(cut, "tools")).every((tool) => {
    const names = Object.keys(toObject(tool) ?? {});
    const isGoogles = names.length > 0 && !names.some((name) => ["type", "name", "function"].includes(name));
    return !isGoogles || names.every((name) => /^function_?declarations$/i.test(name));
  });
}

/**
 * True if the reply reaches the client as it comes, so that no call in it can be carried out: Google's stream that is a
 * list, and Bedrock's stream of binary frames.
 */
export function isSentAsItComes({ route, query }: Pick<Incoming, "route" | "query">): boolean {
  if (route.type !== "api") return false;
  if (route.path.endsWith("/interactions")) return true;
  if (!route.isStreamed) return false;
  return route.path.startsWith("/model/") || (route.api === "google" && !/\balt=sse\b/.test(query));
}

/** The name and the type of Anthropic's memory tool; its calls read and write files below /memories. */
export const MEMORY_TOOL = "memory";
const MEMORY_TYPE = "memory_20250818";
const ROOT = "/memories";
/** A file that shows the person's other memories; it cannot be written. */
const REMEMBERED = `${ROOT}/remembered.md`;
const MAX_FILES = 1_000;

/** True if a request offers Anthropic's memory tool, and the gateway is to carry out its calls. */
export function servesMemoryTool(
  { api, messages, facts }: Pick<ParsedRequest, "api" | "messages" | "facts">,
  mode: "pass" | "serve",
): boolean {
  if (mode !== "serve" || api.name !== "anthropic" || !facts.toolNames.includes(MEMORY_TOOL)) return false;
  return toArray(fieldValue(messages.cut, "tools")).some((tool) => {
    const { type, name } = Object(tool) as WireObject;
    return type === MEMORY_TYPE && name === MEMORY_TOOL;
  });
}

/** The person's memories as files, and where a new one comes from. */
interface MemoryFiles {
  readonly memories: Pick<Memories, "list" | "remember" | "setValidity">;
  readonly source: SessionId;
  readonly project: string | undefined;
}

/** A file: the newest memory that begins with its path. */
interface MemoryFile {
  readonly id: Awaited<ReturnType<Memories["list"]>>[number]["id"];
  readonly path: string;
  readonly text: string;
}

/** A sentence for the model about a call that cannot be carried out. */
class CallProblem extends Error {}

type Command = (files: MemoryFiles, input: WireObject) => Promise<string>;

const COMMANDS: Readonly<Record<string, Command>> = {
  view: viewFile,
  create: createFile,
  str_replace: replaceText,
  insert: insertText,
  delete: deleteFile,
  rename: renameFile,
};

/**
 * Carries out one call of the memory tool in the person's store, so that every client of the person has the same memory.
 * A file that changes or goes keeps its earlier text in the history of memories. Problems become a sentence for the model.
 */
export async function runMemoryCall(files: MemoryFiles, input: WireObject): Promise<string> {
  const command = Object.hasOwn(COMMANDS, String(input.command)) && COMMANDS[String(input.command)];
  if (!command) return `Error: unknown command; use one of ${Object.keys(COMMANDS).join(", ")}.`;
  try {
    return await command(files, input);
  } catch (error) {
    const isTold = error instanceof CallProblem || isLonghaulError(error);
    if (isTold) return `Error: ${(error as Error).message}`;
    throw error;
  }
}

async function viewFile(files: MemoryFiles, { path, view_range }: WireObject): Promise<string> {
  const wanted = checkPath(path);
  const all = await readFiles(files);
  const file = wanted === REMEMBERED ? await readRemembered(files) : all.get(wanted);
  if (file) return numberLines(file.text, view_range);
  const inside = [...all.values()].filter((one) => wanted === ROOT || one.path.startsWith(`${wanted}/`));
  if (wanted !== ROOT && inside.length === 0) throw createMissing(wanted);
  const other = wanted === ROOT ? await readRemembered(files) : undefined;
  const lines = [...inside, ...(other ? [other] : [])]
    .map((one) => `${Buffer.byteLength(one.text)} bytes\t${one.path}`)
    .sort();
  return lines.length === 0 ? `${wanted} is empty.` : `Files in ${wanted}:\n${lines.join("\n")}`;
}

async function createFile(files: MemoryFiles, { path, file_text }: WireObject): Promise<string> {
  const wanted = checkWritable(path);
  await writeFile(files, wanted, checkString("file_text", file_text));
  return `${wanted} is saved.`;
}

async function replaceText(files: MemoryFiles, { path, old_str, new_str }: WireObject): Promise<string> {
  const file = await requireFile(files, checkWritable(path));
  const old = checkString("old_str", old_str);
  const pieces = old === "" ? [] : file.text.split(old);
  if (pieces.length < 2) throw new CallProblem(`${file.path} does not contain old_str.`);
  if (pieces.length > 2) throw new CallProblem(`${file.path} contains old_str ${pieces.length - 1} times.`);
  await writeFile(
    files,
    file.path,
    pieces.join(new_str === undefined ? "" : checkString("new_str", new_str)),
  );
  return `${file.path} is changed.`;
}

async function insertText(
  files: MemoryFiles,
  { path, insert_line, insert_text }: WireObject,
): Promise<string> {
  const file = await requireFile(files, checkWritable(path));
  const lines = file.text === "" ? [] : file.text.split("\n");
  const at = toNumber(insert_line) ?? -1;
  if (!Number.isInteger(at) || at < 0 || at > lines.length)
    throw new CallProblem(`insert_line must be a whole number from 0 to ${lines.length}.`);
  const added = checkString("insert_text", insert_text).replace(/\n$/, "").split("\n");
  await writeFile(files, file.path, lines.toSpliced(at, 0, ...added).join("\n"));
  return `${file.path} is changed.`;
}

async function deleteFile(files: MemoryFiles, { path }: WireObject): Promise<string> {
  const wanted = checkWritable(path);
  const gone = (await listInside(files, wanted)).map(({ id }) => id);
  if (gone.length === 0) throw createMissing(wanted);
  for (const id of gone) await files.memories.setValidity(id, { until: Date.now() });
  return `${wanted} is deleted.`;
}

async function renameFile(files: MemoryFiles, { old_path, new_path }: WireObject): Promise<string> {
  const [from, to] = [checkWritable(old_path), checkWritable(new_path)];
  const moved = await listInside(files, from);
  if (moved.length === 0) throw createMissing(from);
  if ((await listInside(files, to)).length > 0) throw new CallProblem(`${to} exists already.`);
  for (const { id, path, text } of moved) {
    await writeFile(files, `${to}${path.slice(from.length)}`, text);
    await files.memories.setValidity(id, { until: Date.now() });
  }
  return `${from} is now ${to}.`;
}

/** Saves the new text before the old one ends, so that a failure loses neither. */
async function writeFile(
  { memories, source, project }: MemoryFiles,
  path: string,
  text: string,
): Promise<void> {
  const old = (await readFiles({ memories })).get(path);
  if (old?.text === text) return;
  await memories.remember(`${path}\n${text}`, { by: "agent", source, ...dropUndefined({ project }) });
  if (old) await memories.setValidity(old.id, { until: Date.now() });
}

async function requireFile(files: MemoryFiles, path: string): Promise<MemoryFile> {
  const file = (await readFiles(files)).get(path);
  if (!file) throw createMissing(path);
  return file;
}

/** A file, or all files of a folder. */
async function listInside(files: MemoryFiles, path: string): Promise<readonly MemoryFile[]> {
  const all = [...(await readFiles(files)).values()];
  return all.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
}

const FILE_TEXT = /^(?<path>\/memories\/[^\n]+)(?:\n(?<text>[\s\S]*))?$/;

async function readFiles({
  memories,
}: Pick<MemoryFiles, "memories">): Promise<ReadonlyMap<string, MemoryFile>> {
  const files = new Map<string, MemoryFile>();
  for (const { id, text: whole } of await memories.list({ limit: MAX_FILES })) {
    const { path, text = "" } = FILE_TEXT.exec(whole)?.groups ?? {};
    if (path !== undefined && !files.has(path)) files.set(path, { id, path, text });
  }
  return files;
}

/** The memories that are not files: those of the person, and notes that other agents have saved. */
async function readRemembered({ memories }: MemoryFiles): Promise<Omit<MemoryFile, "id"> | undefined> {
  const others = (await memories.list()).filter(({ text }) => !FILE_TEXT.test(text));
  const lines = others.map(
    ({ text, by }) => `- ${text.replaceAll("\n", " ")}${by === "user" ? "" : ` (${by})`}`,
  );
  return lines.length === 0 ? undefined : { path: REMEMBERED, text: lines.join("\n") };
}

function checkPath(path: unknown): string {
  const given = toText(path) ?? "";
  const whole = posix.normalize(given).replace(/(?<=.)\/$/, "");
  const isInside = whole === ROOT || whole.startsWith(`${ROOT}/`);
  if (!isInside || /[\0\n\r]/.test(given)) throw new CallProblem(`a path must be ${ROOT} or below it.`);
  return whole;
}

function checkWritable(path: unknown): string {
  const whole = checkPath(path);
  if (whole === ROOT) throw new CallProblem(`${ROOT} itself cannot be changed; name a file in it.`);
  if (whole === REMEMBERED) throw new CallProblem(`${REMEMBERED} cannot be changed; write another file.`);
  return whole;
}

function checkString(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new CallProblem(`${name} must be a text.`);
}

function createMissing(path: string): CallProblem {
  return new CallProblem(`there is no ${path}.`);
}

function numberLines(text: string, range: unknown): string {
  const [from = 1, to = -1] = toArray(range).map((one) => toNumber(one));
  const lines = text.split("\n").map((line, at) => `${String(at + 1).padStart(6)}\t${line}`);
  return lines.slice(Math.max(0, from - 1), to === -1 ? undefined : to).join("\n");
}
