import { join } from "node:path";
import { editorFolders } from "./cline/editor-folders.ts";
import { readTask } from "./cline/read-task.ts";
import { filesOfSource, OUTPUTS, sourceOfTask, tasksIn } from "./cline/task-files.ts";
import { titleOf } from "./cline/title.ts";
import { definedFields, fieldsBesides, objectOf, textOf } from "./content/fields.ts";
import type { Format, Source } from "./format.ts";
import type { Item } from "./item.ts";
import type { Folder } from "./reading/folder.ts";
import type { Input } from "./reading/input.ts";
import type { JsonObject } from "./reading/json-lines.ts";
import { parseJson } from "./reading/parse-json.ts";
import { isRooTask } from "./roo/detect.ts";
import { rooDialect } from "./roo/dialect.ts";

/** Roo Code: Cline's files, with window edits as tags on the messages. */
export const roo: Format = {
  name: "roo",
  title: "Roo Code",
  processes: [],
  homes: (system) => editorFolders("rooveterinaryinc.roo-cline", system),
  detect,
  read: readSource,
};

async function detect(folder: Folder): Promise<readonly Source[]> {
  const tasks = await tasksIn(folder);
  if (tasks.length === 0 || !(await isRooTask(folder))) return [];
  const facts = await historyFacts(folder);
  const outputs = folder.folders.includes(OUTPUTS) ? [join(folder.path, OUTPUTS)] : [];
  return Promise.all(
    tasks.map(async (task) => {
      const source = await sourceOfTask(folder, task, "roo");
      return task.label === "" ? { ...source, ...facts, paths: [...source.paths, ...outputs] } : source;
    }),
  );
}

/** Reads facts from the folder's history item, if there is one. */
async function historyFacts(folder: Folder): Promise<Pick<Source, "parent" | "title" | "cwd">> {
  const file = folder.files.find(({ name }) => name === "history_item.json");
  const item = file && parsed(await folder.head(file));
  return definedFields({
    parent: textOf(item?.parentTaskId),
    title: titleOf(item?.task, undefined),
    cwd: textOf(item?.workspace),
  });
}

function parsed(text: string): JsonObject | undefined {
  try {
    return objectOf(parseJson(text));
  } catch {
    return undefined;
  }
}

async function* readSource(source: Source, input: Input): AsyncGenerator<Item> {
  const files = filesOfSource(source);
  const path = files["history-item"];
  const read = path === undefined ? undefined : await input.json(path);
  if (read && "type" in read) yield read;
  const item = read && "value" in read ? objectOf(read.value) : undefined;
  yield* readTask({
    source,
    input,
    files,
    dialect: rooDialect(),
    ...definedFields({
      title: titleOf(item?.task, undefined),
      history: item && fieldsBesides(item, ["id"]),
    }),
  });
}
