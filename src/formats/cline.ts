import { join } from "node:path";
import { clineDialect } from "./cline/dialect.ts";
import { editorFolders } from "./cline/editor-folders.ts";
import { historyItem } from "./cline/history.ts";
import { readTask } from "./cline/read-task.ts";
import { filesOfSource, sourceOfTask, tasksIn } from "./cline/task-files.ts";
import { titleOf } from "./cline/title.ts";
import { definedFields, fieldsBesides, timeOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import type { Item } from "./item.ts";
import type { Folder } from "./reading/folder.ts";
import type { Input } from "./reading/input.ts";
import { isRooTask } from "./roo/detect.ts";

/** Cline up to version 3: a folder per task, whose files are rewritten on every change. */
export const cline: Format = {
  name: "cline",
  title: "Cline",
  processes: [],
  homes: (system) => [
    ...editorFolders("saoudrizwan.claude-dev", system),
    join(system.env.CLINE_DIR ?? join(system.home, ".cline"), "data"),
  ],
  detect,
  read: (source, input) => readSource(source, input),
};

async function detect(folder: Folder): Promise<readonly Source[]> {
  return [...(await sourcesIn(folder)), ...(await sourcesWithHistory(folder))];
}

async function sourcesIn(folder: Folder): Promise<Source[]> {
  const tasks = await tasksIn(folder);
  if (tasks.length === 0 || (await isRooTask(folder))) return [];
  return Promise.all(tasks.map((task) => sourceOfTask(folder, task, "cline")));
}

/** Finds tasks together with the task list, which is in a folder next to them. */
async function sourcesWithHistory(folder: Folder): Promise<Source[]> {
  if (!folder.folders.includes("tasks") || !folder.folders.includes("state")) return [];
  const state = await folder.folder("state");
  const history = state?.files.find(({ name }) => name === "taskHistory.json");
  const tasks = await folder.folder("tasks");
  if (!history || !tasks) return [];
  const sources: Source[] = [];
  for (const name of tasks.folders) {
    const task = await tasks.folder(name);
    const found = task ? await sourcesIn(task) : [];
    for (const one of found.map((source) => ({ ...source, paths: [...source.paths, history.path] })))
      sources.push(one);
  }
  return sources;
}

async function* readSource(source: Source, input: Input): AsyncGenerator<Item> {
  const files = filesOfSource(source);
  const list = files["task-history"];
  const history = list === undefined ? undefined : await historyItem(input, list, source.id);
  const dialect = clineDialect(input, files, history?.conversationHistoryDeletedRange);
  yield* readTask({
    source,
    input,
    files,
    dialect,
    ...definedFields({
      startedAt: isTime(source.id) ? Number(source.id) : undefined,
      title: titleOf(history?.task, undefined),
      history: history && fieldsBesides(history, ["id"]),
    }),
  });
}

/** Tells whether the id is a start time: Cline names a task by its first millisecond. */
function isTime(id: string): boolean {
  return /^\d{13}$/.test(id) && timeOf(Number(id)) !== undefined;
}
