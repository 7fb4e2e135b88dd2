import { join } from "node:path";
import { dropUndefined, omitFields, toTime } from "../../wire/fields.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import { createClineDialect } from "./cline-dialect.ts";
import { listEditorFolders } from "./editor-folders.ts";
import { findHistoryItem } from "./find-history-item.ts";
import { isRooTask } from "./is-roo-task.ts";
import { readTask } from "./read-task.ts";
import { buildTaskSource, groupTasks, sortTaskFiles } from "./task-files.ts";
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
