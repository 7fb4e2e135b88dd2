import { join } from "node:path";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { omitFields, toArray, toNumber, toObject, toText, toTime } from "../../wire/fields.ts";
import { toContentBlocks } from "../deduplication/text-pieces.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { Item } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { buildClineMessageRecord } from "./cline-message.ts";
import { ContextEdits } from "./context-edits.ts";
import { listEditorFolders } from "./editor-folders.ts";
import type { FileElement } from "./element-file.ts";
import { isRooTask } from "./is-roo-task.ts";
import { readTask, type TaskDialect } from "./read-task.ts";
import { hashRecordVersion } from "./record-version.ts";
import { decodeClineUsage, getShownKind } from "./shown-message.ts";
import { buildTaskSource, groupTasks, sortTaskFiles, type TaskFiles } from "./task-files.ts";
import { buildTaskTitle } from "./task-title.ts";

/** Cline up to version 3: a folder per task, whose files are rewritten on every change. */
export const clineFormat: Format = {
  name: "cline",
  title: "Cline",
  processes: [],
  homes: (system) => [
    ...listEditorFolders("saoudrizwan.claude-dev", system),
    join(system.env.CLINE_DIR ?? join(system.home, ".cline"), "data"),
  ],
  detect: detectSources,
  read: (source, input) => readSource(source, input),
};

async function detectSources(folder: Folder): Promise<readonly ImportSource[]> {
  return [...(await detectTasks(folder)), ...(await detectTasksWithHistory(folder))];
}

async function detectTasks(folder: Folder): Promise<ImportSource[]> {
  const tasks = await groupTasks(folder);
  if (tasks.length === 0 || (await isRooTask(folder))) return [];
  return Promise.all(tasks.map((task) => buildTaskSource(folder, task, "cline")));
}

/** Finds tasks together with the task list, which is in a folder next to them. */
async function detectTasksWithHistory(folder: Folder): Promise<ImportSource[]> {
  if (!folder.folders.includes("tasks") || !folder.folders.includes("state")) return [];
  const state = await folder.folder("state");
  const history = state?.files.find(({ name }) => name === "taskHistory.json");
  const tasks = await folder.folder("tasks");
  if (!history || !tasks) return [];
  const sources: ImportSource[] = [];
  for (const name of tasks.folders) {
    const task = await tasks.folder(name);
    const found = task ? await detectTasks(task) : [];
    for (const one of found.map((source) => ({ ...source, paths: [...source.paths, history.path] })))
      sources.push(one);
  }
  return sources;
}

async function* readSource(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const files = sortTaskFiles(source);
  const list = files["task-history"];
  const history = list === undefined ? undefined : await findHistoryItem(input, list, source.id);
  const dialect = createClineDialect(input, files, history?.conversationHistoryDeletedRange);
  yield* readTask({
    source,
    input,
    files,
    dialect,
    ...dropUndefined({
      startedAt: isTime(source.id) ? Number(source.id) : undefined,
      title: buildTaskTitle(history?.task, undefined),
      history: history && omitFields(history, ["id"]),
    }),
  });
}

/** Tells whether the id is a start time: Cline names a task by its first millisecond. */
function isTime(id: string): boolean {
  return /^\d{13}$/.test(id) && toTime(Number(id)) !== undefined;
}

/** Finds a task in the task list; undefined if it is missing or unreadable. */
async function findHistoryItem(input: Input, path: string, id: string): Promise<JsonObject | undefined> {
  for await (const { value } of input.jsonElements(path)) {
    const item = toObject(value);
    if (item?.id === id) return item;
  }
  return undefined;
}

/** Creates Cline's dialect; `lastRange` is the deleted range in the task list. */
function createClineDialect(input: Input, files: TaskFiles, lastRange?: unknown): TaskDialect {
  const edits = files.context ? new ContextEdits(input, files.context) : undefined;
  const ranges = new DeletedRanges();
  let passed = 0;
  return {
    format: "cline",
    orderBy: "index",
    readUsage: decodeClineUsage,
    async *begin(at) {
      if (!edits) return;
      yield* await edits.load(at);
      yield* edits.problems;
    },
    *decodeMessage(element, at) {
      const id = `#${element.index}`;
      passed = element.index + 1;
      edits?.addMessage(element.index, id, toContentBlocks(element.value.content));
      yield buildClineMessageRecord(element.value, { id, at, format: "cline" });
      if (!files.shown) yield* decodeMetrics(element, id, at);
    },
    *beforeShown({ value }) {
      const at = toTime(value.ts);
      if (edits && at !== undefined && getShownKind(value) === "api_req_started") yield* edits.takeDue(at);
    },
    *afterShown({ value }) {
      yield* ranges.addRange(value.conversationHistoryDeletedRange, toTime(value.ts), passed);
    },
    async *end() {
      if (edits) yield* edits.takeRest();
      yield* ranges.addRange(lastRange, undefined, passed);
    },
    isWhole: () => edits?.isWhole ?? true,
  };
}

/**
 * Reads usage from a message's own metrics. They are less complete than the shown messages, so they count only without
 * those.
 */
function* decodeMetrics({ value }: FileElement, id: string, at: number | undefined): Generator<Item> {
  const metrics = toObject(value.metrics);
  const tokens = toObject(metrics?.tokens);
  const usage = dropUndefined({
    inputTokens: toNumber(tokens?.prompt),
    outputTokens: toNumber(tokens?.completion),
    // Reads and writes together: the message does not distinguish them.
    cacheReadTokens: toNumber(tokens?.cached),
    cost: toNumber(metrics?.cost),
  });
  if (Object.keys(usage).length === 0) return;
  const model = toObject(value.modelInfo);
  yield {
    type: "record",
    id: `${id}:usage`,
    version: hashRecordVersion(usage),
    ...dropUndefined({ at }),
    body: {
      kind: "usage",
      usage,
      request: id,
      ...dropUndefined({ model: toText(model?.modelId), provider: toText(model?.providerId) }),
    },
  };
}

/** Ranges of the conversation that Cline no longer sends; each extends the one before. */
class DeletedRanges {
  #last = "";
  #waiting: DeletedRange | undefined;

  /** Notes a range after `passed` messages; yields its overlay once all messages of the range were emitted. */
  *addRange(range: unknown, at: number | undefined, passed: number): Generator<Item> {
    const [from, to] = toArray(range).map(toNumber);
    if (from !== undefined && to !== undefined && from >= 0 && from <= to && `${from}-${to}` !== this.#last) {
      this.#last = `${from}-${to}`;
      this.#waiting = { from, to, at };
    }
    if (!this.#waiting || this.#waiting.to >= passed) return;
    yield buildHideItem(this.#waiting);
    this.#waiting = undefined;
  }
}

interface DeletedRange {
  readonly from: number;
  readonly to: number;
  readonly at: number | undefined;
}

function buildHideItem({ from, to, at }: DeletedRange): Item {
  return {
    type: "record",
    id: `deleted:${from}-${to}`,
    ...dropUndefined({ at }),
    body: {
      kind: "overlay",
      edit: { type: "hide", spans: [{ from: `#${from}`, through: `#${to}` }] },
      reason: "conversationHistoryDeletedRange",
      ...dropUndefined({ madeAt: at }),
    },
  };
}
