import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Format, ImportSource } from "../../../src/histories/port/format.ts";
import type { InputOptions } from "../../../src/histories/reading/input.ts";
import type { Item, RecordItem, SessionItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll } from "../../support/items.ts";

/** Result of reading one file with a format. */
export interface Reading {
  readonly source: ImportSource;
  readonly items: readonly Item[];
  readonly records: readonly RecordItem[];
  /** Messages as `[id, role, parts]`, with their child session. */
  readonly messages: readonly (readonly unknown[])[];
  readonly session: SessionItem | undefined;
}

/** Reads a text as the only file of a folder; throws if the format does not claim it. */
export async function readText(
  format: Format,
  text: string,
  name = "talk.json",
  options: Partial<InputOptions> = {},
): Promise<Reading> {
  const path = join(testFolder(), name);
  writeFileSync(path, text);
  const [found] = await readAll([path], [format], options);
  if (!found) throw new Error(`${name} was not claimed by ${format.name}`);
  const records = found.items.filter((item) => item.type === "record");
  return {
    ...found,
    records,
    messages: records.flatMap(({ id, child, body }) => {
      if (body.kind !== "message") return [];
      const { role, parts } = body.message;
      return [child === undefined ? [id, role, parts] : [id, role, parts, child]];
    }),
    session: found.items.findLast((item) => item.type === "session"),
  };
}

/** Values as JSONL text. */
export function lines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** A text part. */
export function words(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}
