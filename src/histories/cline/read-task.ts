import { basename } from "node:path";
import type { Json, MessageInput, PartInput, Role } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { parseDataUrl } from "../../wire/media.ts";
import { type NearbyMessage, toContentBlocks } from "../deduplication/text-pieces.ts";
import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { ElementFile, type FileElement } from "./element-file.ts";
import { trackRecordOrder } from "./record-order.ts";
import { hashRecordVersion } from "./record-version.ts";
import {
  buildPartImage,
  buildShownId,
  buildShownUsageBody,
  decodeShownMessage,
  getShownKind,
  parseJsonObject,
  readShownUsage,
  type UsageReader,
} from "./shown-message.ts";
import { OUTPUT_FOLDER, type TaskFiles } from "./task-files.ts";
import { buildTaskTitle } from "./task-title.ts";

/** Kinds written by the person; all others come from the tool or the model. */
const FROM_PERSON = new Set(["user_feedback", "user_feedback_diff", "task"]);
/** Kinds with text from the model. */
const FROM_MODEL = new Set([
  "text",
  "completion_result",
  "followup",
  "plan_mode_respond",
  "task_progress",
  "new_task",
  "condense",
  "summarize_task",
]);
/** Kinds that request a tool, and the tool's name if the text does not give it. */
const CALLS: ReadonlyMap<string, string | undefined> = new Map([
  ["tool", undefined],
  ["command", "execute_command"],
  ["use_mcp_server", "use_mcp_server"],
]);
/** Kinds that answer a call, and the kind they answer. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ["command_output", "command"],
  ["mcp_server_response", "use_mcp_server"],
]);

/** Differences between the tools that share these files. */
export interface TaskDialect {
  readonly format: "cline" | "roo";
  /** Order of shown and sent messages: by the index in shown messages, or by time. */
  readonly orderBy: "index" | "time";
  readonly readUsage: UsageReader;
  /** Emits items before everything else; `at` is the start of the task. */
  begin(at: number | undefined): AsyncIterable<Item>;
  /** Decodes a message of the conversation. */
  decodeMessage(element: FileElement, at: number | undefined): Iterable<Item>;
  /** Emit items before and after a shown message. */
  beforeShown(element: FileElement): Iterable<Item>;
  afterShown(element: FileElement): Iterable<Item>;
  /** Emits remaining items after everything else. */
  end(): AsyncIterable<Item>;
  /** False if something that affects the window was unreadable. */
  isWhole(): boolean;
}

/** A task to read. */
interface ClineTask {
  readonly source: ImportSource;
  readonly input: Input;
  readonly files: TaskFiles;
  readonly dialect: TaskDialect;
  /** Start time, title and task list entry, if known. */
  readonly startedAt?: number;
  readonly title?: string;
  readonly history?: { readonly [key: string]: Json };
}

/** Number of messages before and after a shown message to search for copies. */
const NEARBY_MESSAGES = 2;

/** Reads all files of a task. */
export async function* readTask(task: ClineTask): AsyncGenerator<Item> {
  const { input, files } = task;
  const open = (path: string | undefined) => (path === undefined ? undefined : new ElementFile(input, path));
  const [conversation, shown] = [open(files.conversation), open(files.shown)];
  let hasLoss = false;
  const isWhole = () =>
    !hasLoss && (conversation?.isWhole ?? true) && (shown?.isWhole ?? true) && task.dialect.isWhole();
  const items = async function* () {
    for await (const item of readTaskItems(task, conversation, shown)) {
      hasLoss ||= item.type === "problem" && item.severity === "lost";
      yield item;
    }
  };
  try {
    yield* trackRecordOrder(items(), { source: task.source, resume: input.resume, isWhole });
  } finally {
    await conversation?.close();
    await shown?.close();
  }
}

async function* readTaskItems(
  task: ClineTask,
  conversation: ElementFile | undefined,
  shown: ElementFile | undefined,
): AsyncGenerator<Item> {
  const { source, input, files, dialect } = task;
  const [first, firstSent] = [(await shown?.peek())?.value, (await conversation?.peek())?.value];
  const startedAt = task.startedAt ?? toTime(first?.ts) ?? toTime(firstSent?.ts);
  const title = task.title ?? buildTaskTitle(first?.text, firstSent?.content);
  const kept = [...(firstSent || !first ? ["conversation"] : []), ...(shown ? ["shown"] : [])];
  yield {
    type: "session",
    ...dropUndefined({ title, createdAt: startedAt }),
    // The task list is not always available; an earlier entry stays.
    meta: {
      [dialect.format]: { files: kept },
      ...(task.history && { [`${dialect.format}-history`]: task.history }),
    },
  };
  // Without any time, the records would be dated today.
  const at = startedAt ?? source.modifiedAt;
  yield* readSideFiles(input, files, at);
  yield* dialect.begin(at);
  if (conversation && (firstSent || !shown || !first)) yield* mergeMessages(dialect, conversation, shown, at);
  else if (shown) {
    if (conversation) yield* conversation.problems.splice(0);
    yield* readShownAlone(shown, dialect.format, dialect.readUsage);
  }
  yield* dialect.end();
}

/** Merges the conversation and the shown messages in the order they happened. */
async function* mergeMessages(
  dialect: TaskDialect,
  conversation: ElementFile,
  shown: ElementFile | undefined,
  startedAt: number,
): AsyncGenerator<Item> {
  const pace = new MessageInterleaver(dialect.orderBy);
  const passed: FileElement[] = [];
  let at = startedAt;
  for (;;) {
    const [message, display] = [await conversation.peek(), await shown?.peek()];
    yield* conversation.problems.splice(0);
    if (shown) yield* shown.problems.splice(0);
    if (display && !(message && pace.isMessageNext(message, display))) {
      pace.addShown(display);
      at = toTime(display.value.ts) ?? at;
      const nearby = await readNearby(passed, conversation);
      yield* dialect.beforeShown(display);
      yield* decodeShownMessage(display, nearby, dialect.format, dialect.readUsage);
      yield* dialect.afterShown(display);
      await shown?.take();
    } else if (message) {
      at = toTime(message.value.ts) ?? at;
      yield* dialect.decodeMessage(message, at);
      await conversation.take();
      passed.push(message);
      if (passed.length > NEARBY_MESSAGES) passed.shift();
    } else return;
  }
}

async function readNearby(
  passed: readonly FileElement[],
  conversation: ElementFile,
): Promise<readonly NearbyMessage[]> {
  const near: NearbyMessage[] = [];
  for (let distance = 0; distance < NEARBY_MESSAGES; distance++) {
    const element = await conversation.peek(distance);
    if (element) near.push({ distance, blocks: toContentBlocks(element.value.content) });
  }
  for (const [index, { value }] of passed.entries())
    near.push({ distance: index - passed.length, blocks: toContentBlocks(value.content) });
  return near;
}

/** Interleaves messages of the conversation with messages shown to the person in the order they happened. */
class MessageInterleaver {
  readonly #orderBy: "index" | "time";
  #requests = 0;

  constructor(orderBy: "index" | "time") {
    this.#orderBy = orderBy;
  }

  /** Tells whether the message existed before the other one was shown. */
  isMessageNext(message: FileElement, shown: FileElement): boolean {
    const [byIndex, byTime] = [isBeforeByIndex(message, shown), isBeforeByTime(message, shown)];
    const known = this.#orderBy === "index" ? (byIndex ?? byTime) : (byTime ?? byIndex);
    // Old tasks have neither: each request sends one message and receives one.
    return known ?? message.index <= 2 * this.#requests - (isRequest(shown) ? 1 : 2);
  }

  addShown(shown: FileElement): void {
    if (isRequest(shown)) this.#requests++;
  }
}

/** Cline records the index of the last message; -1 before the first. */
function isBeforeByIndex(message: FileElement, shown: FileElement): boolean | undefined {
  const last = toNumber(shown.value.conversationHistoryIndex);
  return last === undefined ? undefined : message.index <= last;
}

function isBeforeByTime(message: FileElement, shown: FileElement): boolean | undefined {
  const [sent, seen] = [toNumber(message.value.ts), toNumber(shown.value.ts)];
  return sent === undefined || seen === undefined ? undefined : sent <= seen;
}

function isRequest({ value }: FileElement): boolean {
  return getShownKind(value) === "api_req_started";
}

/** Emits the small files next to a conversation, each complete; `at` is the start of the task. */
async function* readSideFiles(input: Input, files: TaskFiles, at: number | undefined): AsyncGenerator<Item> {
  if (files.metadata) {
    const read = await input.json(files.metadata);
    if (read && "value" in read)
      yield buildFileRecord(getFileName(files.metadata), { json: read.value as Json }, at);
    else if (read) yield read;
  }
  const folder = files.outputs ? await input.folder(files.outputs) : undefined;
  const outputs =
    folder?.files.map(({ path }) => ({ path, name: `${OUTPUT_FOLDER}/${getFileName(path)}` })) ?? [];
  for (const { path, name } of [
    ...files.notes.map((note) => ({ path: note, name: getFileName(note) })),
    ...outputs,
  ]) {
    const text = await input.text(path);
    if (typeof text === "string") yield buildFileRecord(name, { text }, at);
    else if (text) yield text;
  }
}

function getFileName(path: string): string {
  return basename(path).replace(/\.(gz|zst)$/i, "");
}

function buildFileRecord(
  file: string,
  content: { readonly json: Json } | { readonly text: string },
  at: number | undefined,
): Item {
  return {
    type: "record",
    id: `file:${file}`,
    version: hashRecordVersion(content),
    ...dropUndefined({ at }),
    body: { kind: "raw", value: { file, ...content } },
  };
}

/**
 * Reads the shown messages if the conversation is missing: each becomes one message. Fields that our message cannot
 * represent go into its meta, so the same file can be written again.
 */
async function* readShownAlone(
  file: ElementFile,
  format: "cline" | "roo",
  usageOf: UsageReader,
): AsyncGenerator<Item> {
  /** The latest unanswered call of each kind. */
  const open = new Map<string, string>();
  for (let element = await file.take(); element; element = await file.take()) {
    yield* file.problems.splice(0);
    const { index, value } = element;
    const [id, at] = [buildShownId(index), toTime(value.ts)];
    const message = buildMessage(value, { id, isFirst: index === 0, open, format });
    yield {
      type: "record",
      id,
      // The same record gets other content once the conversation is available.
      version: `alone ${hashRecordVersion(value)}`,
      ...dropUndefined({ at }),
      body: { kind: "message", message },
    };
    const usage = readShownUsage(value, usageOf);
    if (usage)
      yield {
        type: "record",
        id: `${id}:usage`,
        version: hashRecordVersion(usage),
        ...dropUndefined({ at }),
        body: { ...buildShownUsageBody(value, usage, id), meta: { [format]: { of: id } } },
      };
  }
  yield* file.problems.splice(0);
}

interface ShownContext {
  readonly id: string;
  readonly isFirst: boolean;
  readonly open: Map<string, string>;
  readonly format: "cline" | "roo";
}

function buildMessage(shown: JsonObject, context: ShownContext): MessageInput {
  const { role, parts, fields, request, call } = decodeShown(shown, context);
  const images = toArray(shown.images).map((url) => ({ url: url as Json, part: parseDataUrl(url) }));
  const parted = images.flatMap(({ part }) => part ?? []);
  const hasImages = parted.length > 0;
  const kept = {
    shown: omitFields(shown, [...fields, ...(hasImages ? ["images"] : [])]) ?? {},
    ...(hasImages && { images: images.map(({ url, part }) => (part ? buildPartImage(url) : url)) }),
    ...dropUndefined({ request, call }),
  };
  const model = toText(toObject(shown.modelInfo)?.modelId);
  return {
    role,
    parts: [...parts, ...parted],
    meta: { [context.format]: kept as Json },
    ...dropUndefined({ model: role === "assistant" ? model : undefined }),
  };
}

interface ShownContent {
  readonly role: Role;
  readonly parts: readonly PartInput[];
  /** Fields of the shown message that the parts represent. */
  readonly fields: readonly string[];
  /** Fields of a request's text other than the request itself. */
  readonly request?: { readonly [field: string]: Json };
  /** "text" if the call could not be parsed and holds the text unchanged. */
  readonly call?: "text";
}

function decodeShown(shown: JsonObject, context: ShownContext): ShownContent {
  const kind = getShownKind(shown) ?? "";
  const text = toText(shown.text);
  if (text === undefined) return { role: "system", parts: [], fields: [] };
  const words = (role: Role): ShownContent => ({ role, parts: [{ type: "text", text }], fields: ["text"] });
  if (CALLS.has(kind)) return decodeShownCall(kind, text, context);
  const answered = ANSWERS.get(kind);
  const callId = answered === undefined ? undefined : context.open.get(answered);
  if (answered !== undefined) {
    // A command's output comes in pieces; a call has one result, so further pieces become plain text.
    if (callId === undefined) return words("user");
    context.open.delete(answered);
    return { role: "tool", parts: [{ type: "tool-result", callId, output: text }], fields: ["text"] };
  }
  if (kind === "api_req_started") return decodeShownRequest(text) ?? words("user");
  if (kind === "reasoning")
    return { role: "assistant", parts: [{ type: "reasoning", text }], fields: ["text"] };
  // The first shown message is the person's request, whatever its kind.
  if (context.isFirst || FROM_PERSON.has(kind)) return words("user");
  return words(FROM_MODEL.has(kind) ? "assistant" : "system");
}

function decodeShownCall(kind: string, text: string, { id, open }: ShownContext): ShownContent {
  const input = kind === "command" ? { command: text } : parseJsonObject(text);
  // Parse only calls that can be written again exactly.
  const isExact = kind === "command" || JSON.stringify(input) === text;
  const name = CALLS.get(kind) ?? toText(input?.tool) ?? kind;
  open.set(kind, id);
  return {
    role: "assistant",
    parts: [{ type: "tool-call", callId: id, name, input: (isExact ? input : { text }) as Json }],
    fields: ["text"],
    ...(!isExact && { call: "text" }),
  };
}

/** Parses the text of a request: the sent text plus usage. */
function decodeShownRequest(text: string): ShownContent | undefined {
  const info = parseJsonObject(text);
  const isExact = info && Object.keys(info)[0] === "request" && JSON.stringify(info) === text;
  if (!isExact || typeof info.request !== "string") return undefined;
  return {
    role: "user",
    parts: [{ type: "text", text: info.request }],
    fields: ["text"],
    request: omitFields(info, ["request"]) ?? {},
  };
}
