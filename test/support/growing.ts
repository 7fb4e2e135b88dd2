import { writeFileSync } from "node:fs";
import type { Format } from "../../src/histories/port/format.ts";
import type { Item, RecordItem } from "../../src/histories/reading/item.ts";
import type { Json } from "../../src/kernel/index.ts";
import { readAll } from "./items.ts";

/** The records of items as an importer sees them: each once, in its last version. */
export function lastVersions(items: readonly Item[]): ReadonlyMap<string, RecordItem> {
  const records = new Map<string, RecordItem>();
  for (const item of items) if (item.type === "record") records.set(item.id, item);
  return records;
}

/** Writes a file piece by piece and reads it after each, continuing where the last read stopped. */
export async function readGrowing(
  path: string,
  text: string,
  cuts: readonly number[],
  format: Format,
): Promise<readonly Item[]> {
  const bytes = Buffer.from(text);
  const items: Item[] = [];
  let resume: Json | undefined;
  for (const cut of [...cuts, bytes.length]) {
    writeFileSync(path, bytes.subarray(0, cut));
    for (const { items: more } of await readAll([path], [format], resume === undefined ? {} : { resume })) {
      items.push(...more.filter((item) => item.type !== "problem"));
      for (const item of more) if (item.type === "checkpoint") resume = item.state;
    }
  }
  return items;
}

/** The byte offsets after each line of a text. */
export function lineEnds(text: string): readonly number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(/\n/g)) ends.push(Buffer.byteLength(text.slice(0, match.index + 1)));
  return ends;
}
