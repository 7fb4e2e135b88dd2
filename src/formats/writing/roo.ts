import { shownAlone } from "./cline/shown-alone.ts";
import { shownMessages } from "./cline/shown-file.ts";
import { otherFiles } from "./cline/side-files.ts";
import { folderName, taskOrigin } from "./cline/task-session.ts";
import { jsonArrayPieces } from "./json-text.ts";
import { historyItem, rooTaskId } from "./roo/history-file.ts";
import { rooElements } from "./roo/sent-file.ts";
import type { ExportedSession, OutputPiece, Writer } from "./writer.ts";

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
  const origin = taskOrigin(exported.record, FORMAT);
  const folder = folderName(rooTaskId(exported.record));
  const { session, isShownAlone } = await shownAlone(exported, FORMAT);
  if (!isShownAlone) yield* jsonArrayPieces(`${folder}/api_conversation_history.json`, rooElements(session));
  yield* jsonArrayPieces(`${folder}/ui_messages.json`, shownMessages(session, FORMAT));
  const hadItem = Object.keys(origin?.history ?? {}).length > 0;
  if (hadItem || !origin) {
    const item = await historyItem(session);
    yield { file: `${folder}/history_item.json`, text: `${JSON.stringify(item, null, 2)}\n` };
  }
  yield* otherFiles(session, FORMAT, folder);
  for await (const child of exported.children()) yield* writeTask(child);
}
