import { toText } from "../../../wire/fields.ts";
import type { ExportedSession, OutputPiece } from "../../port/writer.ts";
import { readTaskFileEntries, type TaskFormat } from "./task-file-entries.ts";

/** Valid names of side files, without path traversal. */
const SAFE_NAME = /^(command-output\/)?\w[\w.-]*$/;

/** Writes the other files of a task unchanged. */
export async function* writeSideFiles(
  session: ExportedSession,
  format: TaskFormat,
  folder: string,
): AsyncGenerator<OutputPiece> {
  for await (const item of readTaskFileEntries(session, format)) {
    if (item.type !== "file") continue;
    const name = toText(item.file.file) ?? "";
    const text =
      typeof item.file.text === "string" ? item.file.text : JSON.stringify(item.file.json, null, 2);
    if (!SAFE_NAME.test(name) || text === undefined) continue;
    yield { file: `${folder}/${name}`, text };
  }
}
