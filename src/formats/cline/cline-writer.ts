import { createHash } from "node:crypto";
import type { SessionRecord } from "../../index.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";
import { encodeSentElements } from "./writing/cline-sent-file.ts";
import { buildContextHistory } from "./writing/context-file.ts";
import { addDeletedRange, findDeletedRange } from "./writing/deleted-range.ts";
import { prepareShownAlone } from "./writing/prepare-shown-alone.ts";
import { writeShownMessages } from "./writing/shown-file.ts";
import { findTaskOrigin, toFolderName } from "./writing/task-file-entries.ts";
import { writeSideFiles } from "./writing/write-side-files.ts";

const FORMAT = "cline";

/**
 * Writes a folder in Cline's format for the task, and one for each sub-agent. A task imported from Cline is written
 * unchanged; for other sessions the shown messages are generated from the conversation. Window edits that Cline cannot
 * represent are left out; the conversation is complete in any case.
 */
export const clineWriter: Writer = {
  name: FORMAT,
  title: "Cline task",
  isFolder: true,
  write: writeTask,
};

async function* writeTask(exported: ExportedSession): AsyncGenerator<OutputPiece> {
  const origin = findTaskOrigin(exported.record, FORMAT);
  const folder = toFolderName(origin?.id ?? createTaskId(exported.record));
  const { session, isShownAlone } = await prepareShownAlone(exported, FORMAT);
  if (!isShownAlone)
    yield* writeJsonArray(`${folder}/api_conversation_history.json`, encodeSentElements(session));
  const shown = addDeletedRange(writeShownMessages(session, FORMAT), await findDeletedRange(session));
  yield* writeJsonArray(`${folder}/ui_messages.json`, shown);
  const context = await buildContextHistory(session);
  if (context) yield { file: `${folder}/context_history.json`, text: `${JSON.stringify(context)}\n` };
  const files = writeSideFiles(session, FORMAT, folder);
  let hasMetadata = origin !== undefined;
  for await (const piece of files) {
    hasMetadata ||= piece.file.endsWith("/task_metadata.json");
    yield piece;
  }
  if (!hasMetadata) yield { file: `${folder}/task_metadata.json`, text: `${JSON.stringify(NO_METADATA)}\n` };
  for await (const child of exported.children()) yield* writeTask(child);
}

const NO_METADATA = { files_in_context: [], model_usage: [], environment_history: [] };

/**
 * Builds a task id. Cline uses the task's first millisecond; three more digits distinguish sessions of the same time.
 */
function createTaskId({ id, createdAt }: SessionRecord): string {
  const digits = createHash("sha256").update(id).digest().readUInt16BE() % 1000;
  return `${createdAt}${String(digits).padStart(3, "0")}`;
}
