import { basename } from "node:path";
import type { Source } from "../format.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";

/** What a file of a task is for. */
export type TaskFileKind =
  | "conversation"
  | "shown"
  | "context"
  | "metadata"
  | "history-item"
  | "task-history"
  | "note"
  | "outputs";

/** The files of a task, by what they are for. */
export type TaskFiles = Readonly<Partial<Record<Exclude<TaskFileKind, "note">, string>>> & {
  readonly notes: readonly string[];
};

/** Old tasks hold the conversation under another name; where both are, the new one counts. */
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

interface NamedFile {
  readonly kind: TaskFileKind;
  /** What the name holds besides: files of one task share it. */
  readonly label: string;
}

function namedFile(name: string): NamedFile | undefined {
  for (const [pattern, kind] of NAMES) {
    const match = pattern.exec(name);
    if (match) return { kind, label: `${match[1]}${match[2]}` };
  }
  return undefined;
}

/** The files that make up a source. */
export function filesOfSource({ paths }: Pick<Source, "paths">): TaskFiles {
  const files = new Map<TaskFileKind, string>();
  const notes: string[] = [];
  const sorted = [...paths].sort((a, b) => Number(isOldName(a)) - Number(isOldName(b)));
  for (const path of sorted) {
    const name = basename(path).replace(/\.(gz|zst)$/i, "");
    const kind = name === OUTPUTS ? "outputs" : namedFile(name)?.kind;
    if (kind === "note") notes.push(path);
    else if (kind && !files.has(kind)) files.set(kind, path);
  }
  return { ...Object.fromEntries(files), notes };
}

/** The folder in which Roo keeps output of commands that is too long for a message. */
export const OUTPUTS = "command-output";

/** The tasks whose files lie in one folder: one, unless somebody has collected and renamed them. */
export interface FoundTask {
  /** What the names of its files have besides; "" where they are the tool's own. */
  readonly label: string;
  readonly files: readonly FileFacts[];
}

/** Groups the files of a folder into tasks: what belongs to a conversation or to what was shown of one. */
export async function tasksIn(folder: Folder): Promise<readonly FoundTask[]> {
  const groups = Map.groupBy(folder.files, ({ name }) => namedFile(name)?.label);
  groups.delete(undefined);
  const tasks: FoundTask[] = [];
  for (const [label = "", all] of groups) {
    const files = all.filter(({ name }) => name !== "taskHistory.json");
    if (await isTask(folder, { label, files })) tasks.push({ label, files });
  }
  return tasks;
}

/** Others may call their files the same: unless the folder has the name of a task, its files must look like one. */
async function isTask(folder: Folder, { label, files }: FoundTask): Promise<boolean> {
  for (const file of files) {
    const kind = namedFile(file.name)?.kind;
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

/** The source of a task found in a folder. */
export async function sourceOfTask(
  folder: Folder,
  task: FoundTask,
  format: "cline" | "roo",
): Promise<Source> {
  const { files, label } = task;
  const id = label === "" ? await taskId(folder, task) : `${folder.name}/${label}`;
  return {
    format,
    id,
    path: label === "" && files.length > 1 ? folder.path : (files[0] as FileFacts).path,
    paths: files.map(({ path }) => path),
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedAt: files.reduce((latest, { modifiedAt }) => Math.max(latest, modifiedAt), 0),
  };
}

/** Tells whether a folder's name is an id that the tool has given: a time or a UUID. */
export function isTaskId(name: string): boolean {
  return /^\d{12,16}$/.test(name) || isUuid(name);
}

/** Tells whether a name is a UUID. */
export function isUuid(name: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name);
}

/** A folder that somebody has named says little: the time of the first message is added. */
async function taskId(folder: Folder, { files }: FoundTask): Promise<string> {
  if (isTaskId(folder.name)) return folder.name;
  for (const file of files) {
    if (namedFile(file.name)?.kind !== "shown") continue;
    const first = /"ts"\s*:\s*(\d{12,16})\b/.exec(await folder.head(file))?.[1];
    if (first !== undefined)
      return folder.name.endsWith(`-${first}`) ? folder.name : `${folder.name}-${first}`;
  }
  return folder.name;
}

function isOldName(path: string): boolean {
  return basename(path).startsWith("claude_messages");
}
