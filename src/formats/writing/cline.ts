import { createHash } from "node:crypto";
import type { SessionRecord } from "../../index.ts";
import { contextHistory } from "./cline/context-file.ts";
import { deletedRange, withDeletedRange } from "./cline/deleted-range.ts";
import { sentElements } from "./cline/sent-file.ts";
import { shownAlone } from "./cline/shown-alone.ts";
import { shownMessages } from "./cline/shown-file.ts";
import { otherFiles } from "./cline/side-files.ts";
import { folderName, taskOrigin } from "./cline/task-session.ts";
import { jsonArrayPieces } from "./json-text.ts";
import type { ExportedSession, OutputPiece, Writer } from "./writer.ts";

const FORMAT = "cline";

/**
 * Writes a folder for the task as Cline keeps it, and one for each sub-agent. A task that came from Cline comes back as it
 * was; of other sessions the messages that the person sees are made from the conversation. Edits of the window that Cline
 * cannot say are left out: the conversation is whole in any case.
 */
export const clineWriter: Writer = {
  name: FORMAT,
  title: "Cline task",
  isFolder: true,
  write: writeTask,
};

async function* writeTask(exported: ExportedSession): AsyncGenerator<OutputPiece> {
  const origin = taskOrigin(exported.record, FORMAT);
  const folder = folderName(origin?.id ?? newTaskId(exported.record));
  const { session, isShownAlone } = await shownAlone(exported, FORMAT);
  if (!isShownAlone) yield* jsonArrayPieces(`${folder}/api_conversation_history.json`, sentElements(session));
  const shown = withDeletedRange(shownMessages(session, FORMAT), await deletedRange(session));
  yield* jsonArrayPieces(`${folder}/ui_messages.json`, shown);
  const context = await contextHistory(session);
  if (context) yield { file: `${folder}/context_history.json`, text: `${JSON.stringify(context)}\n` };
  const files = otherFiles(session, FORMAT, folder);
  let hasMetadata = origin !== undefined;
  for await (const piece of files) {
    hasMetadata ||= piece.file.endsWith("/task_metadata.json");
    yield piece;
  }
  if (!hasMetadata) yield { file: `${folder}/task_metadata.json`, text: `${JSON.stringify(NO_METADATA)}\n` };
  for await (const child of exported.children()) yield* writeTask(child);
}

const NO_METADATA = { files_in_context: [], model_usage: [], environment_history: [] };

/** Cline names a task by the millisecond in which it began; three more digits keep sessions of one time apart. */
function newTaskId({ id, createdAt }: SessionRecord): string {
  const digits = createHash("sha256").update(id).digest().readUInt16BE() % 1000;
  return `${createdAt}${String(digits).padStart(3, "0")}`;
}
