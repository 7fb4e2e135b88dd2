import { join } from "node:path";
import type { Json, MessageInput, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseJson } from "../../model/base/parse-json.ts";
import type { Extras } from "../../wire/block-content.ts";
import { omitFields, toArray, toNumber, toObject, toText } from "../../wire/fields.ts";
import { decodeClineMessage } from "../cline/cline-message.ts";
import { listEditorFolders } from "../cline/editor-folders.ts";
import { isRooTask } from "../cline/is-roo-task.ts";
import { readTask, type TaskDialect } from "../cline/read-task.ts";
import { hashRecordVersion } from "../cline/record-version.ts";
import { decodeClineUsage, subtractCachedTokens } from "../cline/shown-message.ts";
import { buildTaskSource, groupTasks, OUTPUT_FOLDER, sortTaskFiles } from "../cline/task-files.ts";
import { buildTaskTitle } from "../cline/task-title.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item, Span } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Roo Code: Cline's files, with window edits as tags on the messages. */
export const rooFormat: Format = {
  name: "roo",
  title: "Roo Code",
  processes: [],
  homes: (system) => listEditorFolders("rooveterinaryinc.roo-cline", system),
  detect: detectSources,
  read: readSource,
};

/** Tags of messages that left the window: they change over time, and overlays represent them. */
const TAG_FIELDS = ["condenseParent", "truncationParent"];

async function detectSources(folder: Folder): Promise<readonly ImportSource[]> {
  const tasks = await groupTasks(folder);
  if (tasks.length === 0 || !(await isRooTask(folder))) return [];
  const facts = await readHistoryFacts(folder);
  const outputs = folder.folders.includes(OUTPUT_FOLDER) ? [join(folder.path, OUTPUT_FOLDER)] : [];
  return Promise.all(
    tasks.map(async (task) => {
      const source = await buildTaskSource(folder, task, "roo");
      return task.label === "" ? { ...source, ...facts, paths: [...source.paths, ...outputs] } : source;
    }),
  );
}

/** Reads facts from the folder's history item, if there is one. */
async function readHistoryFacts(folder: Folder): Promise<Pick<ImportSource, "parent" | "title" | "cwd">> {
  const file = folder.files.find(({ name }) => name === "history_item.json");
  const item = file && parseObject(await folder.head(file));
  return dropUndefined({
    parent: toText(item?.parentTaskId),
    title: buildTaskTitle(item?.task, undefined),
    cwd: toText(item?.workspace),
  });
}

function parseObject(text: string): JsonObject | undefined {
  try {
    return toObject(parseJson(text));
  } catch {
    return undefined;
  }
}

async function* readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const files = sortTaskFiles(source);
  const path = files["history-item"];
  const read = path === undefined ? undefined : await input.json(path);
  if (read && "type" in read) yield read;
  const item = read && "value" in read ? toObject(read.value) : undefined;
  yield* readTask({
    source,
    input,
    files,
    dialect: createRooDialect(),
    ...dropUndefined({
      title: buildTaskTitle(item?.task, undefined),
      history: item && omitFields(item, ["id"]),
    }),
  });
}

/** Creates Roo's dialect. */
function createRooDialect(): TaskDialect {
  const tags = new RooTags();
  const names = new MessageNames();
  return {
    format: "roo",
    orderBy: "time",
    readUsage: (info) => subtractCachedTokens(decodeClineUsage(info)),
    async *begin() {},
    *decodeMessage({ index, value }, at) {
      const id = names.assignName(index, value);
      const message = decodeRooMessage(value);
      yield {
        type: "record",
        id,
        version: hashRecordVersion(omitFields(value, TAG_FIELDS)),
        ...dropUndefined({ at }),
        body: message ? { kind: "message", message } : { kind: "raw", value: { element: value as Json } },
      };
      yield* tags.addMessage(value, id, at);
    },
    *beforeShown() {},
    *afterShown({ value }) {
      yield* tags.addShownMessage(value);
    },
    async *end() {
      yield* tags.end();
    },
    isWhole: () => true,
  };
}

/**
 * Names messages by time, because Roo inserts summaries and markers between others and shifts their indexes. If the
 * time may not be unique, the index is added.
 */
class MessageNames {
  #latest = 0;

  assignName(index: number, { ts }: JsonObject): string {
    const time = toNumber(ts);
    if (time === undefined) return `#${index}`;
    if (time <= this.#latest) return `${time}#${index}`;
    this.#latest = time;
    return String(time);
  }
}

/** Converts a Roo message; undefined if the element is not one. */
function decodeRooMessage(element: JsonObject): MessageInput | undefined {
  const value = omitFields(element, TAG_FIELDS) ?? {};
  if (value.type === "reasoning" && value.role === undefined) return decodeReasoningItem(value);
  const message = decodeClineMessage(value, "roo");
  return message && decodeReasoningBlocks(message);
}

/** Converts a separate element with a provider's encrypted reasoning. */
function decodeReasoningItem(value: { readonly [field: string]: Json }): MessageInput {
  const summary = toArray(value.summary).flatMap((line) => toText(toObject(line)?.text) ?? []);
  const text = typeof value.text === "string" ? value.text : summary.join("\n");
  const opaque = value.encrypted_content;
  const known = [...(typeof value.text === "string" ? ["text"] : []), "encrypted_content"];
  return {
    role: "assistant",
    parts: [{ type: "reasoning", text, ...dropUndefined({ opaque }) }],
    meta: { roo: omitFields(value, known) ?? {} },
  };
}

/** Converts Roo's reasoning blocks to parts and removes a second copy of their text. */
function decodeReasoningBlocks(message: MessageInput): MessageInput {
  const extras: [string, { readonly [field: string]: Json }][] = [];
  const parts = (message.parts ?? []).map((part, index): PartInput => {
    const block = part.type === "raw" ? toObject(part.value) : undefined;
    if (block?.type !== "reasoning" || typeof block.text !== "string") return part;
    extras.push([String(index), omitFields(block, ["text"]) ?? {}]);
    return { type: "reasoning", text: block.text };
  });
  const own = message.meta?.roo as { readonly [field: string]: Json } & { readonly extras?: Extras };
  const text = own.reasoning_content;
  const isCopy = parts.some((part) => part.type === "reasoning" && part.text !== "" && part.text === text);
  if (extras.length === 0 && !isCopy) return message;
  const kept = isCopy ? { ...own, reasoning_content: true } : own;
  const all = { ...own.extras, ...Object.fromEntries(extras) };
  return { ...message, parts, meta: { roo: extras.length > 0 ? { ...kept, extras: all } : kept } };
}

/** A summary or marker for the messages that refer to it. */
interface WindowMarker {
  readonly type: "condense" | "truncation";
  /** Record of the summary or marker. */
  readonly record: string;
  readonly at: number | undefined;
}

interface TaggedRun {
  readonly from: string;
  through: string;
  /** Index of the last message in the run. */
  last: number;
}

interface WindowTokens {
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/**
 * Roo's window edits: messages carry the id of the summary that replaces them, or of the marker that hides them. A tag
 * applies as long as its summary or marker exists.
 */
class RooTags {
  readonly #runs = new Map<string, TaggedRun[]>();
  readonly #markers = new Map<string, WindowMarker>();
  readonly #tokens = new Map<string, WindowTokens>();
  #messageCount = 0;
  #second: string | undefined;
  #previous: string | undefined;

  /** Notes a message of the conversation that was emitted. */
  *addMessage(message: JsonObject, record: string, at: number | undefined): Generator<Item> {
    this.#tag(`condense:${toText(message.condenseParent)}`, message.condenseParent, record);
    this.#tag(`truncation:${toText(message.truncationParent)}`, message.truncationParent, record);
    const [condenseId, truncationId] = [toText(message.condenseId), toText(message.truncationId)];
    if (message.isSummary === true && condenseId !== undefined)
      yield* this.#addMarker(`condense:${condenseId}`, { type: "condense", record, at });
    else if (message.isSummary === true) yield* this.#emitOldSummary(record, at);
    else if (message.isTruncationMarker === true && truncationId !== undefined)
      yield* this.#addMarker(`truncation:${truncationId}`, { type: "truncation", record, at });
    this.#messageCount++;
    if (this.#messageCount === 2) this.#second = record;
    this.#previous = record;
  }

  /** Reads the window size from the message shown to the person. */
  *addShownMessage(shown: JsonObject): Generator<Item> {
    const condensed = toObject(shown.contextCondense);
    const truncated = toObject(shown.contextTruncation);
    const [condenseId, truncationId] = [toText(condensed?.condenseId), toText(truncated?.truncationId)];
    const info = condensed ?? truncated;
    const key = condenseId !== undefined ? `condense:${condenseId}` : `truncation:${truncationId}`;
    if (!info || (condenseId === undefined && truncationId === undefined)) return;
    this.#tokens.set(
      key,
      dropUndefined({
        tokensBefore: toNumber(info.prevContextTokens),
        tokensAfter: toNumber(info.newContextTokens),
      }),
    );
    yield* this.#tryEmit(key);
  }

  /** Emits edits without a shown message. */
  *end(): Generator<Item> {
    for (const key of [...this.#markers.keys()]) yield* this.#emit(key);
  }

  #tag(key: string, parent: unknown, record: string): void {
    if (toText(parent) === undefined) return;
    const runs = this.#runs.get(key) ?? [];
    const last = runs.at(-1);
    if (last && last.last === this.#messageCount - 1) {
      last.through = record;
      last.last = this.#messageCount;
    } else runs.push({ from: record, through: record, last: this.#messageCount });
    this.#runs.set(key, runs);
  }

  *#addMarker(key: string, stand: WindowMarker): Generator<Item> {
    this.#markers.set(key, stand);
    yield* this.#tryEmit(key);
  }

  *#tryEmit(key: string): Generator<Item> {
    if (this.#markers.has(key) && this.#tokens.has(key)) yield* this.#emit(key);
  }

  *#emit(key: string): Generator<Item> {
    const stand = this.#markers.get(key);
    const spans = this.#runs.get(key)?.map(({ from, through }): Span => ({ from, through }));
    this.#markers.delete(key);
    if (stand && spans) yield buildEditItem(key, stand, spans, this.#tokens.get(key));
  }

  /** Old summaries without an id replace everything between the first message and themselves. */
  *#emitOldSummary(record: string, at: number | undefined): Generator<Item> {
    if (this.#second === undefined || this.#previous === undefined) return;
    const spans = [{ from: this.#second, through: this.#previous }];
    yield buildEditItem(`condense:${record}`, { type: "condense", record, at }, spans, undefined);
  }
}

function buildEditItem(
  key: string,
  { type, record, at }: WindowMarker,
  spans: readonly Span[],
  tokens: WindowTokens | undefined,
): Item {
  return {
    type: "record",
    id: key,
    ...dropUndefined({ at }),
    body: {
      kind: "overlay",
      edit: type === "condense" ? { type: "summarize", spans, record } : { type: "hide", spans },
      reason: key,
      ...dropUndefined({ madeAt: at, ...tokens }),
    },
  };
}
