import { textOf } from "../../content/fields.ts";
import type { ExportedSession, OutputPiece } from "../writer.ts";
import { type TaskFormat, taskEntries } from "./task-session.ts";

/** Valid names of side files, without path traversal. */
const NAME = /^(command-output\/)?\w[\w.-]*$/;

/** Writes the other files of a task unchanged. */
export async function* otherFiles(
  session: ExportedSession,
  format: TaskFormat,
  folder: string,
): AsyncGenerator<OutputPiece> {
  for await (const item of taskEntries(session, format)) {
    if (item.type !== "file") continue;
    const name = textOf(item.file.file) ?? "";
    const text =
      typeof item.file.text === "string" ? item.file.text : JSON.stringify(item.file.json, null, 2);
    if (!NAME.test(name) || text === undefined) continue;
    yield { file: `${folder}/${name}`, text };
  }
}
