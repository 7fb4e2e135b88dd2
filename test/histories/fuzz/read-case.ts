import { findSources } from "../../../src/histories/find-sources.ts";
import type { Format } from "../../../src/histories/port/format.ts";
import { Input } from "../../../src/histories/reading/input.ts";
import type { Item } from "../../../src/histories/reading/item.ts";
import type { Json } from "../../../src/kernel/index.ts";
import { checkItem } from "./check-items.ts";

/** More items than any case contains: exceeding it means that reading does not end. */
const MAX_ITEMS = 100_000;

/** Counts of reading all sources of a folder. */
export interface ReadCase {
  readonly sources: number;
  readonly records: number;
  readonly lost: number;
}

/**
 * Finds and reads all sources of a folder, optionally each once more from its last checkpoint. Throws on any failure.
 */
export async function readCase(
  folder: string,
  formats: readonly Format[],
  options: { readonly secretWords: string; readonly withResume?: boolean },
): Promise<ReadCase> {
  const counts = { sources: 0, records: 0, lost: 0 };
  for await (const found of findSources([folder], formats)) {
    if (!("source" in found)) {
      counts.lost++;
      continue;
    }
    counts.sources++;
    const { source, format, root } = found;
    let resume: Json | undefined;
    for await (const item of limited(format.read(source, new Input({ root, paths: source.paths })))) {
      check(item, options.secretWords);
      if (item.type === "checkpoint") resume = item.state;
      if (item.type === "record") counts.records++;
      if (item.type === "problem" && item.severity === "lost") counts.lost++;
    }
    if (resume === undefined || !options.withResume) continue;
    const input = new Input({ root, paths: source.paths, resume: JSON.parse(JSON.stringify(resume)) });
    for await (const item of limited(format.read(source, input))) check(item, options.secretWords);
  }
  return counts;
}

async function* limited(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  let count = 0;
  for await (const item of items) {
    if (++count > MAX_ITEMS) throw new Error("reading does not end");
    yield item;
  }
}

function check(item: Item, secretWords: string): void {
  checkItem(item);
  if (JSON.stringify(item).includes(secretWords)) throw new Error("a file outside of the source was read");
  expectCleanPrototypes();
}

/** Throws if a built-in prototype was polluted. */
export function expectCleanPrototypes(): void {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype, String.prototype])
    if (Object.keys(prototype).length > 0) throw new Error(`${Object.keys(prototype)} in a prototype`);
}
