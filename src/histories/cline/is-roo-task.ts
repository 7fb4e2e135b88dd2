import type { Folder } from "../reading/folder.ts";
import { groupTasks, isUuid } from "./task-files.ts";

/** VS Code extensions that write Roo's format. */
const EXTENSIONS = /[\\/](rooveterinaryinc\.roo-cline|rooveterinaryinc\.roo-code-nightly)[\\/]/i;

/** Fields and kinds of messages that Roo writes and Cline does not. */
const MARKS =
  /"(condenseParent|condenseId|truncationParent|truncationId|isSummary|isTruncationMarker|contextCondense|contextTruncation|apiProtocol|reasoning_content|roo_read_date)"\s*:|"say"\s*:\s*"(condense_context|sliding_window_truncation|checkpoint_saved|codebase_search_result|user_edit_todos)"|"\{\\"apiProtocol\\"/;

/** Tells Roo's task folders from Cline's, which use the same file names. */
export async function isRooTask(folder: Folder): Promise<boolean> {
  const tasks = await groupTasks(folder);
  if (tasks.length === 0) return false;
  if (folder.files.some(({ name }) => name === "history_item.json")) return true;
  if (isUuid(folder.name) || EXTENSIONS.test(`${folder.path}/`)) return true;
  for (const { files } of tasks)
    for (const file of files) if (MARKS.test(await folder.head(file))) return true;
  return false;
}
