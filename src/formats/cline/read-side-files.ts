import { basename } from "node:path";
import type { Json } from "../../index.ts";
import { dropUndefined } from "../../wire/fields.ts";
import type { Item } from "../port/item.ts";
import type { Input } from "../reading/input.ts";
import { hashRecordVersion } from "./record-version.ts";
import { OUTPUT_FOLDER, type TaskFiles } from "./task-files.ts";

/** Emits the small files next to a conversation, each complete; `at` is the start of the task. */
export async function* readSideFiles(
  input: Input,
  files: TaskFiles,
  at: number | undefined,
): AsyncGenerator<Item> {
  if (files.metadata) {
    const read = await input.json(files.metadata);
    if (read && "value" in read)
      yield buildFileRecord(getFileName(files.metadata), { json: read.value as Json }, at);
    else if (read) yield read;
  }
  const folder = files.outputs ? await input.folder(files.outputs) : undefined;
  const outputs =
    folder?.files.map(({ path }) => ({ path, name: `${OUTPUT_FOLDER}/${getFileName(path)}` })) ?? [];
  for (const { path, name } of [
    ...files.notes.map((note) => ({ path: note, name: getFileName(note) })),
    ...outputs,
  ]) {
    const text = await input.text(path);
    if (typeof text === "string") yield buildFileRecord(name, { text }, at);
    else if (text) yield text;
  }
}

function getFileName(path: string): string {
  return basename(path).replace(/\.(gz|zst)$/i, "");
}

function buildFileRecord(
  file: string,
  content: { readonly json: Json } | { readonly text: string },
  at: number | undefined,
): Item {
  return {
    type: "record",
    id: `file:${file}`,
    version: hashRecordVersion(content),
    ...dropUndefined({ at }),
    body: { kind: "raw", value: { file, ...content } },
  };
}
