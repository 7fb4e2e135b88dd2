import { join } from "node:path";
import { parseJson } from "../../base/parse-json.ts";
import { dropUndefined, omitFields, toObject, toText } from "../../wire/fields.ts";
import { listEditorFolders } from "../cline/editor-folders.ts";
import { isRooTask } from "../cline/is-roo-task.ts";
import { readTask } from "../cline/read-task.ts";
import { buildTaskSource, groupTasks, OUTPUT_FOLDER, sortTaskFiles } from "../cline/task-files.ts";
import { buildTaskTitle } from "../cline/task-title.ts";
import type { Format, ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import type { Folder } from "../reading/folder.ts";
import type { Input } from "../reading/input.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { createRooDialect } from "./roo-dialect.ts";

/** Roo Code: Cline's files, with window edits as tags on the messages. */
export const rooFormat: Format = {
  name: "roo",
  title: "Roo Code",
  processes: [],
  homes: (system) => listEditorFolders("rooveterinaryinc.roo-cline", system),
  detect: detectSources,
  read: readSource,
};

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
