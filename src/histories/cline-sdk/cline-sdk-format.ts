import { createHash, type Hash } from "node:crypto";
import { join } from "node:path";
import type { Json, MessageInput, PartInput, Role, ToolResultInput, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import { decodeAnthropicBlocks } from "../../wire/anthropic/decode-anthropic.ts";
import type { Extras } from "../../wire/block-content.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import { ElementFile } from "../cline/element-file.ts";
import { trackRecordOrder } from "../cline/record-order.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import { subtractCachedTokens } from "../cline/shown-message.ts";
import { buildTaskTitle } from "../cline/task-title.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item, ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

const FORMAT = "cline-sdk";

const SUFFIX = ".messages.json";

/** Cline from version 4 on, and its CLI: one file of messages per session and sub-agent. */
export const clineSdkFormat: Format = {
  name: FORMAT,
  title: "Cline SDK",
  processes: ["cline"],
  homes: ({ home, env }) => [join(env.CLINE_DIR ?? join(home, ".cline"), "data", "sessions")],
  detect: detectClineSdkSources,
  read: readSource,
};

/** Tags that successive SDK versions have treated as program notices inside user input. */
const NOTICES = [[], ["mode_notice"], ["mode_notice", "environment_notice"]];

/** Number of historical ways to display user input. */
const INPUT_VERSIONS = NOTICES.length;

async function* readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const reader = new SessionReader(source, input);
  try {
    yield* trackRecordOrder(reader.readItems(), {
      source,
      resume: input.resume,
      isWhole: () => reader.isWhole,
    });
  } finally {
    await reader.close();
  }
}

class SessionReader {
  readonly #input: Input;
  readonly #main: string;
  readonly #manifest: string | undefined;
  readonly #sidecar: string | undefined;
  readonly #file: ElementFile;
  readonly #modifiedAt: number;
  isWhole = true;

  constructor({ paths, modifiedAt }: ImportSource, input: Input) {
    const [main = "", ...beside] = paths;
    this.#input = input;
    this.#main = main;
    this.#sidecar = beside.find((path) => /\.compaction\.json(\.gz|\.zst)?$/i.test(path));
    this.#manifest = beside.find((path) => path !== this.#sidecar);
    this.#file = new ElementFile(input, main);
    this.#modifiedAt = modifiedAt;
  }

  async *readItems(): AsyncGenerator<Item> {
    const manifest = yield* this.#readObject(this.#manifest);
    const state = yield* this.#readObject(this.#sidecar);
    const first = (await this.#file.peek())?.value;
    yield buildSessionItem(manifest, this.#file.fields, first);
    const startedAt = toTime(manifest?.started_at) ?? toTime(first?.ts) ?? this.#modifiedAt;
    yield* this.#readMessages(state && new ClineSdkCompaction(state), startedAt);
    // Some fields of the file follow the messages.
    yield buildSessionItem(manifest, this.#file.fields, first);
    this.isWhole &&= this.#file.isWhole;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#readMessages(compaction: ClineSdkCompaction | undefined, startedAt: number): AsyncGenerator<Item> {
    let last = "";
    // The newest messages may have no time yet.
    let at = startedAt;
    for (let element = await this.#file.take(); element; element = await this.#file.take()) {
      yield* this.#file.problems.splice(0);
      last = `#${element.index}`;
      at = toTime(element.value.ts) ?? at;
      yield* decodeClineSdkElement(element.value, { id: last, at }, this.#file.fields);
      const wasComplete = compaction?.isComplete;
      compaction?.addMessage(element.value);
      if (compaction?.isComplete && !wasComplete && compaction.isValid)
        yield compaction.buildOverlay(last, (message) => decodeClineSdkMessage(message, this.#file.fields));
    }
    yield* this.#file.problems.splice(0);
    if (!compaction || compaction.isValid || compaction.count === 0) return;
    yield compaction.buildRawRecord();
    yield this.#buildUnusedProblem();
  }

  #buildUnusedProblem(): ProblemItem {
    const reason = "the window beside the conversation was made from other messages; kept, but not applied";
    return { type: "problem", path: this.#sidecar ?? this.#main, severity: "damaged", reason };
  }

  async *#readObject(path: string | undefined): AsyncGenerator<Item, JsonObject | undefined> {
    const read = path === undefined ? undefined : await this.#input.json(path);
    if (read === undefined || "value" in read) return toObject(read?.value);
    this.isWhole = false;
    yield read;
    return undefined;
  }
}

function buildSessionItem(
  manifest: JsonObject | undefined,
  fields: FileFields,
  first: JsonObject | undefined,
): Item {
  const metadata = toObject(manifest?.metadata);
  const file = Object.fromEntries(fields) as { [field: string]: Json };
  const title = toText(metadata?.title) ?? buildTaskTitle(manifest?.prompt, first?.content);
  const createdAt = toTime(manifest?.started_at) ?? toTime(first?.ts);
  return {
    type: "session",
    ...dropUndefined({ title, createdAt }),
    // The paths of its files say nothing about the session.
    meta: {
      [FORMAT]: { ...file, ...dropUndefined({ manifest: manifest && omitFields(manifest, PATH_FIELDS) }) },
    },
  };
}

const PATH_FIELDS = ["messages_path", "compaction_path"];

/** Finds the SDK's conversations in a folder; a session and its sub-agents share one. */
async function detectClineSdkSources(folder: Folder): Promise<readonly ImportSource[]> {
  const sources: ImportSource[] = [];
  for (const file of folder.files) {
    const facts = file.name.endsWith(SUFFIX) ? parseFacts(await folder.head(file)) : undefined;
    if (facts) sources.push(buildSource(folder, file, facts));
  }
  // Sessions come before their sub-agents.
  return sources.sort((a, b) => Number(a.parent !== undefined) - Number(b.parent !== undefined));
}

/** Parses the fields before the messages; undefined if the file is not the SDK's. */
function parseFacts(head: string): JsonObject | undefined {
  const end = head.search(/"messages"\s*:/);
  if (end < 0 || !/^\s*\{/.test(head)) return undefined;
  try {
    const facts = toObject(parseJson(`${head.slice(0, end).replace(/,\s*$/, "")}}`));
    const isOurs = facts && (toText(facts.sessionId) ?? toText(facts.agent)) !== undefined;
    return isOurs && facts.version !== undefined ? facts : undefined;
  } catch {
    return undefined;
  }
}

function buildSource(folder: Folder, file: FileFacts, facts: JsonObject): ImportSource {
  const stem = file.name.slice(0, -SUFFIX.length);
  const beside = folder.files.filter(
    ({ name }) => name === `${stem}.json` || name === `${stem}.compaction.json`,
  );
  const files = [file, ...beside];
  const { id, parent } = deriveIdentity(stem, facts);
  return {
    format: "cline-sdk",
    id,
    path: file.path,
    paths: files.map(({ path }) => path),
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedAt: files.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
    ...dropUndefined({ parent }),
  };
}

/** Derives id and parent: a sub-agent's file contains the session it works for and is named after the agent. */
function deriveIdentity(stem: string, facts: JsonObject): { readonly id: string; readonly parent?: string } {
  const origin = toObject(facts.origin);
  const root = toText(facts.sessionId);
  const thread = toText(origin?.parentThreadId);
  const isLead = (toText(facts.agent) ?? "lead") === "lead" && thread === undefined && !origin?.subagent;
  if (isLead) return { id: root ?? stem };
  const own = toText(origin?.sessionId);
  const parent = thread ?? root;
  if (own !== undefined && own !== parent && own !== root) return { id: own, ...dropUndefined({ parent }) };
  const isNamed = root === undefined || stem.startsWith(`${root}__`);
  const id = isNamed ? stem : `${root}__${facts.agent === "teammate" ? "teamtask__" : ""}${stem}`;
  return id === parent ? { id } : { id, ...dropUndefined({ parent }) };
}

/** Fields of the file that apply to all its messages. */
type FileFields = ReadonlyMap<string, unknown>;

/** Decodes an element of the conversation: a message with its usage, or a raw record. */
function* decodeClineSdkElement(
  value: JsonObject,
  { id, at }: { readonly id: string; readonly at: number },
  fields: FileFields,
): Generator<Item> {
  const message = decodeClineSdkMessage(value, fields);
  // The SDK sometimes regenerates ids and times of an unchanged message.
  const version = hashRecordVersion(omitFields(value, ["id", "ts"]));
  if (!message) {
    yield { type: "record", id, version, at, body: { kind: "raw", value: { element: value as Json } } };
    return;
  }
  yield { type: "record", id, version, at, body: { kind: "message", message } };
  const usage = toUsage(toObject(value.metrics));
  const model = toObject(value.modelInfo);
  if (usage)
    yield {
      type: "record",
      id: `${id}:usage`,
      version: hashRecordVersion(usage),
      at,
      body: {
        kind: "usage",
        usage,
        request: id,
        ...dropUndefined({ model: toText(model?.id), provider: toText(model?.provider) }),
      },
    };
}

/** Converts an SDK message; undefined if the element is not one. */
function decodeClineSdkMessage(value: JsonObject, fields: FileFields): MessageInput | undefined {
  const { role, content } = value;
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const { parts, extras } = decodeClineSdkContent(content);
  const isAnswer = parts.length > 0 && parts.every(({ type }) => type === "tool-result");
  // Omit fields that repeat those of the file.
  const repeated = ["agent", "sessionId"].filter((field) => value[field] === fields.get(field));
  const rest = omitFields(value, ["role", "content", "metrics", ...repeated]);
  const own = { ...rest, ...dropUndefined({ extras }) };
  const speaker: Role = isAnswer ? "tool" : role;
  return {
    role: speaker,
    parts,
    ...dropUndefined({ model: toText(toObject(value.modelInfo)?.id) }),
    ...(Object.keys(own).length > 0 && { meta: { "cline-sdk": own as Json } }),
  };
}

function toUsage(metrics: JsonObject | undefined): Usage | undefined {
  const usage = dropUndefined({
    inputTokens: toNumber(metrics?.inputTokens),
    outputTokens: toNumber(metrics?.outputTokens),
    cacheReadTokens: toNumber(metrics?.cacheReadTokens),
    cacheWriteTokens: toNumber(metrics?.cacheWriteTokens),
    cost: toNumber(metrics?.cost),
  });
  return Object.keys(usage).length > 0 ? subtractCachedTokens(usage) : undefined;
}

/**
 * The window that the SDK stores next to a conversation: messages that replace its first ones. It applies only if those
 * are unchanged.
 */
class ClineSdkCompaction {
  readonly count: number;
  readonly #state: JsonObject;
  readonly #hashes: readonly Hash[];
  #last: JsonObject | undefined;
  #messageCount = 0;

  constructor(state: JsonObject) {
    this.#state = state;
    this.count = toNumber(state.source_message_count) ?? -1;
    this.#hashes = Array.from({ length: INPUT_VERSIONS }, () =>
      createHash("sha256").update(`cline-session-compaction-source-v2\n${this.count}\n`),
    );
  }

  /** Notes a message of the conversation that was emitted. */
  addMessage(message: JsonObject): void {
    if (this.#messageCount >= this.count) return;
    this.#messageCount++;
    this.#last = message;
    for (const [way, hash] of this.#hashes.entries())
      hash.update(`${JSON.stringify(getHashedFields(message, way))}\n`);
  }

  /** True once all replaced messages were emitted. */
  get isComplete(): boolean {
    return this.count > 0 && this.#messageCount === this.count;
  }

  /** True if the window was made from the emitted messages. */
  get isValid(): boolean {
    const { source_prefix_hash: prefix, source_last_message_key: key } = this.#state;
    if (!this.isComplete) return false;
    if (toText(prefix) !== undefined)
      return this.#hashes.some((hash) => `sha256:${hash.copy().digest("hex")}` === prefix);
    return (
      toText(key) !== undefined &&
      this.#last !== undefined &&
      buildBoundaryKeys(this.#last).includes(key as string)
    );
  }

  /** Builds the overlay, which covers everything through that record. */
  buildOverlay(through: string, messageOf: (message: JsonObject) => MessageInput | undefined): Item {
    const messages = toArray(this.#state.messages).map((message) => toObject(message) ?? {});
    const metadata = toObject(messages[0]?.metadata);
    const madeAt = toTime(this.#state.updated_at);
    return {
      type: "record",
      id: `compaction:${this.count}`,
      version: hashRecordVersion(this.#state),
      body: {
        kind: "overlay",
        edit: {
          type: "summarize",
          spans: [{ through }],
          messages: messages.flatMap((message) => messageOf(message) ?? []),
        },
        reason: toText(metadata?.kind) ?? "compaction",
        ...dropUndefined({ madeAt, tokensBefore: toNumber(metadata?.tokensBefore) }),
      },
    };
  }

  /** Keeps a sidecar that does not apply as a raw record. */
  buildRawRecord(): Item {
    return {
      type: "record",
      id: "compaction:unused",
      version: hashRecordVersion(this.#state),
      body: { kind: "raw", value: { compaction: this.#state as Json } },
    };
  }
}

/**
 * Returns the hashed fields of a message in the SDK's order. Ids and times are excluded, because the SDK regenerates
 * them.
 */
function getHashedFields(message: JsonObject, way: number): readonly unknown[] {
  return [
    ["role", message.role],
    ["content", message.role === "user" ? toShownContent(message.content, way) : message.content],
    ["agent", message.agent ?? null],
    ["sessionId", message.sessionId ?? null],
    ["metadata", message.metadata ?? null],
    ["modelInfo", message.modelInfo ?? null],
    ["metrics", message.metrics ?? null],
  ];
}

function toShownContent(content: unknown, way: number): unknown {
  if (typeof content === "string") return toShownInput(content, way);
  if (!Array.isArray(content)) return content;
  return content.map((block) => {
    const { type, text } = toObject(block) ?? {};
    return type === "text" && typeof text === "string" ? { ...block, text: toShownInput(text, way) } : block;
  });
}

/** Returns the keys by which old sidecars name their last message. */
function buildBoundaryKeys(message: JsonObject): readonly string[] {
  const id = toText(message.id)?.trim();
  if (id) return [`id:${id}`];
  if (toNumber(message.ts) !== undefined) return [`ts:${message.role}:${message.ts}`];
  return Array.from({ length: INPUT_VERSIONS }, (_, way) => {
    const content = message.role === "user" ? toShownContent(message.content, way) : message.content;
    return `content:${message.role}:${JSON.stringify(content)}`;
  });
}

/** Displays user input as the SDK does, without its own tags and notices; `way` selects the SDK version's behavior. */
function toShownInput(text: string, way: number): string {
  if (text.trim() === "") return "";
  const words = (NOTICES[way] ?? []).reduce(removeElements, unwrapOwnTags(text)).trim();
  const slash = findSlashCommand(text);
  if (slash === undefined) return words;
  const prefix = "spawn a team of agents for the following task:";
  const isTeam = slash.toLowerCase() === "team" && words.toLowerCase().startsWith(prefix);
  const rest = isTeam ? words.slice(prefix.length).trim() : words;
  const name = slash.toLowerCase() === "team" ? "team" : slash;
  return rest === "" ? `/${name}` : `/${name} ${rest}`;
}

/** Removes the tags around input and keeps their content. */
function unwrapOwnTags(text: string): string {
  return ["user_input", "user_command"].reduce((left, tag) => {
    const unwrapped = left.replace(new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`, "g"), "$1");
    return (unwrapped === left ? left.replace(new RegExp(`<${tag}[^>]*>`, "g"), "") : unwrapped).trim();
  }, text.trim());
}

/** Removes elements including their content. */
function removeElements(text: string, tag: string): string {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  let left = text;
  for (let from = left.indexOf(open); from >= 0; from = left.indexOf(open, from)) {
    const end = left.indexOf(close, from + open.length);
    if (end < 0) break;
    left = left.slice(0, from) + left.slice(end + close.length);
  }
  return left;
}

function findSlashCommand(text: string): string | undefined {
  const attributes = /^<user_command\b([^>]*)>[\s\S]*?<\/user_command>$/i.exec(text.trim())?.[1];
  return attributes === undefined ? undefined : /slash="([^"]+)"/i.exec(attributes)?.[1]?.trim() || undefined;
}

interface DecodedPart {
  readonly part: PartInput;
  /** Fields that the part cannot represent. */
  readonly extra?: { readonly [field: string]: Json } | undefined;
}

/** Converts the content of an SDK message: a string, or one part per block. */
function decodeClineSdkContent(content: unknown): {
  readonly parts: readonly PartInput[];
  readonly extras?: Extras;
} {
  if (typeof content === "string") return { parts: [{ type: "text", text: content }] };
  const known = toArray(content).map((block): DecodedPart => {
    const fields = toObject(block);
    return (fields && decodePart(fields)) ?? { part: { type: "raw", format: FORMAT, value: block as Json } };
  });
  const extras = known.flatMap(({ extra }, index) => (extra ? [[String(index), extra] as const] : []));
  const parts = known.map(({ part }) => part);
  return extras.length > 0 ? { parts, extras: Object.fromEntries(extras) } : { parts };
}

function decodePart(block: JsonObject): DecodedPart | undefined {
  switch (block.type) {
    case "image":
      return decodeImage(block);
    case "media":
      return decodeMedia(block);
    case "file":
      if (typeof block.content !== "string") return undefined;
      return { part: { type: "text", text: block.content }, extra: omitFields(block, ["content"]) };
    case "tool_result":
      return decodeToolResult(block);
    default: {
      const { parts, extras } = decodeAnthropicBlocks([block], FORMAT);
      return { part: parts[0] as PartInput, extra: extras?.["0"] };
    }
  }
}

function decodeImage(block: JsonObject): DecodedPart | undefined {
  const part = buildDataPart(block.data, block.mediaType);
  return part && { part, extra: omitFields(block, ["type", "data", "mediaType"]) };
}

/** Converts media that a model generated; without inline bytes the block is kept raw. */
function decodeMedia(block: JsonObject): DecodedPart | undefined {
  const made = toObject(block.media);
  const part = made && buildDataPart(made.data, made.mediaType, toText(made.name));
  const rest = made && omitFields(made, ["data", "mediaType"]);
  return part && { part, extra: { type: "media", ...dropUndefined({ media: rest }) } };
}

function decodeToolResult(block: JsonObject): DecodedPart | undefined {
  if (typeof block.tool_use_id !== "string") return undefined;
  const isError = typeof block.is_error === "boolean" ? block.is_error : undefined;
  return {
    part: {
      type: "tool-result",
      callId: block.tool_use_id,
      ...dropUndefined({ name: toText(block.name), isError }),
      output: decodeOutput(block.content),
    },
    extra: omitFields(block, ["type", "tool_use_id", "name", "content", "is_error"]),
  };
}

function decodeOutput(content: unknown): ToolResultInput["output"] {
  if (typeof content === "string") return content;
  return toArray(content).map((block) => {
    const fields = toObject(block);
    const known = fields && decodePart(fields);
    const isWhole = known && !known.extra;
    if (isWhole && (known.part.type === "text" || known.part.type === "data")) return known.part;
    return { type: "raw", format: FORMAT, value: block as Json };
  });
}
