import { basename } from "node:path";
import type { Json } from "../../index.ts";
import { definedFields } from "../content/fields.ts";
import type { Item } from "../item.ts";
import type { Input } from "../reading/input.ts";
import { OUTPUTS, type TaskFiles } from "./task-files.ts";
import { versionOf } from "./version.ts";

/** Emits the small files next to a conversation, each complete; `at` is the start of the task. */
export async function* sideFiles(
  input: Input,
  files: TaskFiles,
  at: number | undefined,
): AsyncGenerator<Item> {
  if (files.metadata) {
    const read = await input.json(files.metadata);
    if (read && "value" in read) yield fileRecord(nameOf(files.metadata), { json: read.value as Json }, at);
    else if (read) yield read;
  }
  const folder = files.outputs ? await input.folder(files.outputs) : undefined;
  const outputs = folder?.files.map(({ path }) => ({ path, name: `${OUTPUTS}/${nameOf(path)}` })) ?? [];
  for (const { path, name } of [
    ...files.notes.map((note) => ({ path: note, name: nameOf(note) })),
    ...outputs,
  ]) {
    const text = await input.text(path);
    if (typeof text === "string") yield fileRecord(name, { text }, at);
    else if (text) yield text;
  }
}

function nameOf(path: string): string {
  return basename(path).replace(/\.(gz|zst)$/i, "");
}

function fileRecord(
  file: string,
  content: { readonly json: Json } | { readonly text: string },
  at: number | undefined,
): Item {
  return {
    type: "record",
    id: `file:${file}`,
    version: versionOf(content),
    ...definedFields({ at }),
    body: { kind: "raw", value: { file, ...content } },
  };
}
