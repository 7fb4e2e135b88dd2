import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exportSession } from "../../../src/histories/export-session.ts";
import type { Writer } from "../../../src/histories/port/writer.ts";
import type { Item, RecordItem } from "../../../src/histories/reading/item.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

/** A one-pixel PNG. */
export const PNG = PIXEL_PNG;

/** Writes the files of a task into a folder below `parent`, and returns its path. */
export function writeTask(parent: string, id: string, files: Readonly<Record<string, unknown>>): string {
  const folder = join(parent, id);
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  }
  return folder;
}

/** Reads a JSON file of a folder. */
export function readJson(folder: string, name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), "utf8"));
}

/** Exports a session into a folder. */
export async function exportTo(folder: string, kernel: Kernel, id: string, writer: Writer): Promise<void> {
  for await (const { file, text } of exportSession(kernel, id, writer)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    appendFileSync(join(folder, file), text);
  }
}

/** The records among items. */
export function recordsOf(items: readonly Item[]): readonly RecordItem[] {
  return items.filter((item) => item.type === "record");
}

/** The bodies of one kind among items. */
export function bodiesOf<K extends RecordItem["body"]["kind"]>(
  items: readonly Item[],
  kind: K,
): readonly Extract<RecordItem["body"], { kind: K }>[] {
  return recordsOf(items).flatMap(({ body }) =>
    body.kind === kind ? [body as Extract<RecordItem["body"], { kind: K }>] : [],
  );
}
