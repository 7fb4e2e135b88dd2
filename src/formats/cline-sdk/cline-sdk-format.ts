import { join } from "node:path";
import { parseJson } from "../../base/parse-json.ts";
import type { Json, MessageInput, Role, Usage } from "../../index.ts";
import { dropUndefined, omitFields, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { ElementFile } from "../cline/element-file.ts";
import { trackRecordOrder } from "../cline/record-order.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import { subtractCachedTokens } from "../cline/shown-message.ts";
import { buildTaskTitle } from "../cline/task-title.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item, ProblemItem } from "../port/item.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { ClineSdkCompaction } from "./cline-sdk-compaction.ts";
import { decodeClineSdkContent } from "./cline-sdk-content.ts";

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
