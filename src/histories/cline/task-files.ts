import { basename } from "node:path";
import type { ImportSource } from "../port/format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";

/** Purpose of a task file. */
type TaskFileKind =
  | "conversation"
  | "shown"
  | "context"
  | "metadata"
  | "history-item"
  | "task-history"
  | "note"
  | "outputs";

/** Files of a task by purpose. */
export type TaskFiles = Readonly<Partial<Record<Exclude<TaskFileKind, "note">, string>>> & {
  readonly notes: readonly string[];
};

/** File name patterns. Old tasks have the conversation under another name; if both exist, the new one counts. */
const NAMES: readonly (readonly [pattern: RegExp, kind: TaskFileKind])[] = [
  [/^(.*)api_conversation_history(.*)\.json$/, "conversation"],
  [/^(.*)claude_messages(.*)\.json$/, "conversation"],
  [/^(.*)ui_messages(.*)\.json$/, "shown"],
  [/^(.*)context_history(.*)\.json$/, "context"],
  [/^(.*)task_metadata(.*)\.json$/, "metadata"],
  [/^()history_item()\.json$/, "history-item"],
  [/^()taskHistory()\.json$/, "task-history"],
  [/^()focus_chain_.*()\.md$/, "note"],
];

interface FileMatch {
  readonly kind: TaskFileKind;
  /** The rest of the name, shared by the files of one task. */
  readonly label: string;
}

function matchFileName(name: string): FileMatch | undefined {
  for (const [pattern, kind] of NAMES) {
    const match = pattern.exec(name);
    if (match) return { kind, label: `${match[1]}${match[2]}` };
  }
  return undefined;
}

/** Sorts the files of a source by purpose. */
export function sortTaskFiles({ paths }: Pick<ImportSource, "paths">): TaskFiles {
  const files = new Map<TaskFileKind, string>();
  const notes: string[] = [];
  const sorted = [...paths].sort((a, b) => Number(isOldName(a)) - Number(isOldName(b)));
  for (const path of sorted) {
    const name = basename(path).replace(/\.(gz|zst)$/i, "");
    const kind = name === OUTPUT_FOLDER ? "outputs" : matchFileName(name)?.kind;
    if (kind === "note") notes.push(path);
    else if (kind && !files.has(kind)) files.set(kind, path);
  }
  return { ...Object.fromEntries(files), notes };
}

/** Roo's folder for command output that is too long for a message. */
export const OUTPUT_FOLDER = "command-output";

/** A task in a folder: usually the only one, unless somebody collected and renamed several. */
interface FoundTask {
  /** The rest of the file names; "" if they are the tool's own. */
  readonly label: string;
  readonly files: readonly FileFacts[];
}

/** Groups the files of a folder into tasks; a task has a conversation or shown messages. */
export async function groupTasks(folder: Folder): Promise<readonly FoundTask[]> {
  const groups = Map.groupBy(folder.files, ({ name }) => matchFileName(name)?.label);
  groups.delete(undefined);
  const tasks: FoundTask[] = [];
  for (const [label = "", all] of groups) {
    const files = all.filter(({ name }) => name !== "taskHistory.json");
    if (await isTask(folder, { label, files })) tasks.push({ label, files });
  }
  return tasks;
}

/** Other tools may use the same file names: unless the folder is named like a task, its files must look like one. */
async function isTask(folder: Folder, { label, files }: FoundTask): Promise<boolean> {
  for (const file of files) {
    const kind = matchFileName(file.name)?.kind;
    const marks = kind === "conversation" || kind === "shown" ? MARKS[kind] : undefined;
    if (!marks) continue;
    if (label === "" && isTaskId(folder.name)) return true;
    const head = await folder.head(file);
    if (marks.every((mark) => mark.test(head))) return true;
  }
  return false;
}

const MARKS = {
  conversation: [/^\s*[[{]\s*["{]/, /"role"\s*:\s*"/, /"content"\s*:/],
  shown: [/^\s*\[\s*\{/, /"ts"\s*:/, /"(say|ask)"\s*:\s*"/],
};

/** Builds the source of a task. */
export async function buildTaskSource(
  folder: Folder,
  task: FoundTask,
  format: "cline" | "roo",
): Promise<ImportSource> {
  const { files, label } = task;
  const id = label === "" ? await deriveTaskId(folder, task) : `${folder.name}/${label}`;
  return {
    format,
    id,
    path: label === "" && files.length > 1 ? folder.path : (files[0] as FileFacts).path,
    paths: files.map(({ path }) => path),
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedAt: files.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
  };
}

/** Tells whether a folder's name is a task id: a time or a UUID. */
function isTaskId(name: string): boolean {
  return /^\d{12,16}$/.test(name) || isUuid(name);
}

export function isUuid(name: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name);
}

/** Returns the task id; a folder named by a person is not unique, so the time of the first message is added. */
async function deriveTaskId(folder: Folder, { files }: FoundTask): Promise<string> {
  if (isTaskId(folder.name)) return folder.name;
  for (const file of files) {
    if (matchFileName(file.name)?.kind !== "shown") continue;
    const first = /"ts"\s*:\s*(\d{12,16})\b/.exec(await folder.head(file))?.[1];
    if (first !== undefined)
      return folder.name.endsWith(`-${first}`) ? folder.name : `${folder.name}-${first}`;
  }
  return folder.name;
}

function isOldName(path: string): boolean {
  return basename(path).startsWith("claude_messages");
}
