import { basename, dirname, join } from "node:path";
import type { Json } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDays, readAgentSettings } from "../content/agent-settings.ts";
import { addFacts, NO_FACTS, type SessionFacts } from "../content/session-facts.ts";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines, type LineDecoder, type LineRecord } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { buildChatRecords } from "./message-records.ts";

/** Chats of Gemini CLI: one JSONL file each; older versions used one JSON file. */
export const geminiCliFormat: Format = {
  name: "gemini-cli",
  title: "Gemini CLI",
  processes: ["gemini"],
  homes({ home, env }) {
    return [join(toText(env.GEMINI_CLI_HOME) ?? home, ".gemini", "tmp")];
  },
  async retention({ home, env }) {
    const file = join(toText(env.GEMINI_CLI_HOME) ?? home, ".gemini", "settings.json");
    const general = toObject((await readAgentSettings([file])).general);
    const { enabled = true, maxAge = "30d", maxCount } = toObject(general?.sessionRetention) ?? {};
    const days = parseDays(String(maxAge));
    if (enabled === false)
      return { rule: "kept until you delete them (general.sessionRetention.enabled is false)" };
    return {
      ...dropUndefined({ days, mostPerProject: toNumber(maxCount) }),
      rule: `deleted ${maxAge} after the last change (general.sessionRetention in settings.json)`,
    };
  },
  async detect(folder) {
    const sources: ImportSource[] = [];
    const chats = folder.files.filter(({ name }) => /\.jsonl?$/.test(name));
    for (const file of chats) {
      // A resumed old chat is rewritten completely as JSONL next to the old file.
      const { name } = file;
      if (name.endsWith(".json") && chats.some((other) => other.name === `${name}l`)) continue;
      const older = chats.filter((other) => name.endsWith(".jsonl") && `${other.name}l` === name);
      const first = parseFirstRecord(await folder.head(file), name);
      if (first && toText(first.sessionId) !== undefined && toText(first.projectHash) !== undefined)
        sources.push(buildSource(file, older, first, folder, await readProjectRoot(folder)));
    }
    return sources;
  },
  read({ path }, input) {
    if (/\.json(\.(gz|zst))?$/i.test(path)) return readChatFile(path, input);
    return decodeLines(input, path, (state) => new ChatDecoder(path, state));
  },
};

/** Parses the first line of a JSONL file, or the visible beginning of a JSON file. */
function parseFirstRecord(head: string, name: string): JsonObject | undefined {
  const text = head.trimStart();
  return toObject(parseCutJson(name.endsWith(".jsonl") ? (text.split("\n", 1)[0] ?? "") : text));
}

/** Reads the folder of the project, which newer versions write next to its chats. */
async function readProjectRoot(folder: Folder): Promise<string | undefined> {
  const project = folder.name === "chats" ? await folder.folder("..") : undefined;
  const file = project?.files.find(({ name }) => name === ".project_root");
  return file && project ? toText((await project.head(file)).trim()) : undefined;
}

function buildSource(
  file: FileFacts,
  older: readonly FileFacts[],
  first: JsonObject,
  folder: Folder,
  root: string | undefined,
): ImportSource {
  const id = toText(first.sessionId) ?? "";
  // Sub-agents are in a folder named after their parent chat.
  const isBelow = basename(dirname(folder.path)) === "chats" && folder.name !== id;
  const parent = isBelow ? folder.name : undefined;
  const cwd = toText(Array.isArray(first.directories) ? first.directories[0] : undefined) ?? root;
  const title = toText(first.summary);
  const beside = older.map(({ path }) => path);
  return buildFileSource("gemini-cli", file, { id, parent, cwd, title }, beside);
}

/** Reads a chat of older versions, which rewrote one JSON file with every message. */
async function* readChatFile(path: string, input: Input): AsyncGenerator<Item> {
  let facts = NO_FACTS;
  let told = NO_FACTS;
  let last: string | null = null;
  let count = 0;
  for await (const element of input.jsonElements(path, ["messages"])) {
    const { field, index, value } = element;
    const problem = input.elementProblem(path, element);
    if (problem) yield problem;
    if (value === undefined) continue;
    if (index === undefined) {
      const added = addFacts(facts, { [field]: value });
      facts = added.facts;
      if (added.large) yield buildRawRecord(field, added.large);
      continue;
    }
    count++;
    if (facts !== told) {
      told = facts;
      yield buildChatSessionItem(facts);
    }
    const message = toObject(value);
    if (!message) {
      yield buildRawRecord(`#${index}`, value as Json);
      continue;
    }
    // Each record follows the previous one in the file, so deleted messages drop off the line.
    for (const record of buildChatRecords(message, toText(message.id) ?? `#${index}`)) {
      yield { ...record, parent: last };
      last = record.id;
    }
  }
  if (facts !== told) yield buildChatSessionItem(facts);
  const before = toObject(input.resume)?.messages;
  if (typeof before === "number" && count < before) yield { type: "rewind", to: last };
  yield { type: "checkpoint", state: { messages: count } };
}

function buildRawRecord(id: string, value: Json): Item {
  return {
    type: "record",
    id,
    version: computeFingerprint(JSON.stringify(value)),
    body: { kind: "raw", value },
  };
}

/** Maximum messages to remember for rewinds. */
const MAX_MESSAGES = 2_000;

interface ChatState {
  readonly facts: SessionFacts;
  readonly order: readonly OrderedMessage[];
  readonly isCut: boolean;
  readonly held?: LineRecord;
}

/** Maximum size of a held message in a checkpoint. */
const MAX_HELD_BYTES = 64 * 1024;

class ChatDecoder implements LineDecoder {
  readonly #path: string;
  readonly #order: MessageOrder;
  #facts: SessionFacts;
  /** The newest message, held because it is rewritten while it grows. */
  #held: LineRecord | undefined;

  constructor(path: string, saved: Json | undefined) {
    const state = saved as unknown as ChatState | undefined;
    this.#path = path;
    this.#facts = state?.facts ?? NO_FACTS;
    this.#order = new MessageOrder(state?.order, state?.isCut);
    this.#held = state?.held;
  }

  get isSettled(): boolean {
    return this.#held === undefined || this.#held.sizeBytes <= MAX_HELD_BYTES;
  }

  state(): Json {
    const state: ChatState = {
      facts: this.#facts,
      order: this.#order.messages,
      isCut: this.#order.isCut,
      ...(this.#held && { held: this.#held }),
    };
    return state as unknown as Json;
  }

  *decode(line: LineRecord): Generator<Item> {
    const { record } = line;
    const id = toText(record.id);
    const rewindTo = toText(record.$rewindTo);
    const update = toObject(record.$set);
    if (rewindTo !== undefined) {
      yield* this.#release();
      yield* this.#rewind(rewindTo, line.line);
    } else if (id !== undefined) yield* this.#hold(line, id);
    else if (update) yield* this.#update(update, line);
    else if (toText(record.sessionId) !== undefined) yield* this.#describe(record, line);
    else yield buildRawLine(line, record as Json);
  }

  /** Emits the held message without releasing it; if it grows, it is emitted again. */
  *end(): Generator<Item> {
    if (this.#held) yield* this.#place(this.#held.record);
  }

  *#hold(line: LineRecord, id: string): Generator<Item> {
    const held = this.#held;
    if (held && held.record.id === id) yield { type: "copy", bytes: held.sizeBytes };
    else yield* this.#release();
    this.#held = line;
    if (!isRepeatedAnswer(line.record, held?.record)) return;
    // It stays known, because a rewind may name it.
    this.#order.place([id, []]);
    this.#held = undefined;
    yield { type: "copy", bytes: line.sizeBytes };
  }

  *#release(): Generator<Item> {
    const held = this.#held;
    this.#held = undefined;
    if (held) yield* this.#place(held.record);
  }

  *#place(message: JsonObject): Generator<Item> {
    const id = toText(message.id) ?? "";
    const records = buildChatRecords(message, id);
    const where = this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
    yield* records;
    // The new version keeps its place, and its followers stay.
    if (where === "earlier" && !this.#order.isCut) yield { type: "line", records: this.#order.records() };
    else if (where === "earlier") yield { type: "rewind", to: this.#order.last };
  }

  /** Rewinds to a message; an unknown message clears the chat. */
  *#rewind(message: string, line: number): Generator<Item> {
    const to = this.#order.rewindTo(message);
    if (to !== undefined) yield { type: "rewind", to };
    else if (this.#order.isCut) {
      const reason = "goes back further than is remembered; the line stays as it was";
      yield { type: "problem", path: this.#path, line, severity: "damaged", reason };
    } else {
      this.#order.clear();
      yield { type: "rewind", to: null };
    }
  }

  *#update({ messages, ...fields }: JsonObject, line: LineRecord): Generator<Item> {
    if (Array.isArray(messages)) {
      yield* this.#release();
      yield* this.#replaceAll(messages, line);
    }
    yield* this.#describe(fields, line);
  }

  /** Replaces the whole chat with these messages, whether known, changed or new. */
  *#replaceAll(messages: readonly unknown[], { line }: LineRecord): Generator<Item> {
    const all = messages.map((value) => toObject(value) ?? { content: value });
    const answers = all.filter((one, index) => one.type === "user" && !isRepeatedAnswer(one, all[index - 1]));
    const answered = new Set(answers.flatMap(getAnsweredCalls));
    this.#order.clear();
    for (const [index, message] of all.entries()) {
      const id = toText(message.id) ?? `L${line}#${index}`;
      const records = isRepeatedAnswer(message, all[index - 1])
        ? []
        : buildChatRecords(message, id, answered);
      this.#order.place([id, records.map((record) => record.id.slice(id.length))]);
      yield* records;
    }
    yield { type: "line", records: this.#order.records() };
  }

  *#describe(fields: JsonObject, line: LineRecord): Generator<Item> {
    const { facts, isChanged, large } = addFacts(this.#facts, fields);
    this.#facts = facts;
    if (isChanged) yield buildChatSessionItem(facts);
    if (large) yield buildRawLine(line, large);
  }
}

/** Builds the session item from the facts. */
function buildChatSessionItem({ small }: SessionFacts): Item {
  const createdAt = toTime(small.startTime);
  const title = toText(small.summary);
  return { type: "session", ...dropUndefined({ createdAt, title }), meta: { "gemini-cli": small } };
}

/** Tells whether a user message only repeats the results that the model's message before it holds, as newer versions write. */
function isRepeatedAnswer(message: JsonObject, before: JsonObject | undefined): boolean {
  if (message.type !== "user" || before?.type !== "gemini" || message.displayContent !== undefined)
    return false;
  const results = toArray(before.toolCalls).flatMap((call) => toArray(toObject(call)?.result));
  return results.length > 0 && JSON.stringify(results) === JSON.stringify(message.content);
}

/** Returns the calls that a user message answers. */
function getAnsweredCalls({ content }: JsonObject): readonly string[] {
  return toArray(content).flatMap((value) => toText(toObject(toObject(value)?.functionResponse)?.id) ?? []);
}

function buildRawLine({ line }: LineRecord, value: Json): RecordItem {
  return { type: "record", id: `L${line}`, body: { kind: "raw", value } };
}

/** A message with the suffixes of its records' ids. */
type OrderedMessage = readonly [id: string, suffixes: readonly string[]];

/** The remembered messages of the line, oldest first. */
class MessageOrder {
  #messages: OrderedMessage[];
  #isCut: boolean;

  constructor(messages: readonly OrderedMessage[] = [], isCut = false) {
    this.#messages = [...messages];
    this.#isCut = isCut;
  }

  /** True if the line has older messages that are not remembered. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get messages(): readonly OrderedMessage[] {
    return this.#messages;
  }

  /** Id of the last record; null if none. */
  get last(): string | null {
    const message = this.#messages.findLast(([, suffixes]) => suffixes.length > 0);
    return message ? message[0] + message[1].at(-1) : null;
  }

  /** Returns the ids of all records on the line. */
  records(): readonly string[] {
    return this.#messages.flatMap(([id, suffixes]) => suffixes.map((suffix) => id + suffix));
  }

  /** Appends a message, or replaces its older version in place; returns its position. */
  place(message: OrderedMessage): "new" | "last" | "earlier" {
    const index = this.#messages.findLastIndex(([id]) => id === message[0]);
    if (index >= 0) {
      this.#messages[index] = message;
      return index === this.#messages.length - 1 ? "last" : "earlier";
    }
    this.#messages.push(message);
    if (this.#messages.length > MAX_MESSAGES) {
      this.#messages.shift();
      this.#isCut = true;
    }
    return "new";
  }

  /** Removes a message and all after it; returns the last record then, or undefined if the message is unknown. */
  rewindTo(message: string): string | null | undefined {
    const index = this.#messages.findIndex(([id]) => id === message);
    if (index < 0 || (index === 0 && this.#isCut)) return undefined;
    this.#messages.length = index;
    return this.last;
  }

  clear(): void {
    this.#messages = [];
    this.#isCut = false;
  }
}
