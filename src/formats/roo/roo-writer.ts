import { prepareShownAlone } from "../cline/writing/prepare-shown-alone.ts";
import { writeShownMessages } from "../cline/writing/shown-file.ts";
import { findTaskOrigin, toFolderName } from "../cline/writing/task-file-entries.ts";
import { writeSideFiles } from "../cline/writing/write-side-files.ts";
import type { ExportedSession, OutputPiece, Writer } from "../port/writer.ts";
import { writeJsonArray } from "../writing/write-json-array.ts";
import { buildHistoryItem, getRooTaskId } from "./writing/history-file.ts";
import { encodeRooElements } from "./writing/roo-sent-file.ts";

const FORMAT = "roo";

/**
 * Writes a folder in Roo's format for the task, and one for each sub-agent. A task imported from Roo is written
 * unchanged; for other sessions the shown messages are generated from the conversation. Tags mark messages that left
 * the window; replacements of single parts, which Roo cannot represent, are left out.
 */
export const rooWriter: Writer = {
  name: FORMAT,
  title: "Roo Code task",
  isFolder: true,
  write: writeTask,
};

async function* writeTask(exported: ExportedSession): AsyncGenerator<OutputPiece> {
  const origin = findTaskOrigin(exported.record, FORMAT);
  const folder = toFolderName(getRooTaskId(exported.record));
  const { session, isShownAlone } = await prepareShownAlone(exported, FORMAT);
  if (!isShownAlone)
    yield* writeJsonArray(`${folder}/api_conversation_history.json`, encodeRooElements(session));
  yield* writeJsonArray(`${folder}/ui_messages.json`, writeShownMessages(session, FORMAT));
  const hadItem = Object.keys(origin?.history ?? {}).length > 0;
  if (hadItem || !origin) {
    const item = await buildHistoryItem(session);
    yield { file: `${folder}/history_item.json`, text: `${JSON.stringify(item, null, 2)}\n` };
  }
  yield* writeSideFiles(session, FORMAT, folder);
  for await (const child of exported.children()) yield* writeTask(child);
}
