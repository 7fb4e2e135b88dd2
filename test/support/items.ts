import { type FoundSource, findSources } from "../../src/histories/find-sources.ts";
import type { Format, ImportSource } from "../../src/histories/port/format.ts";
import { Input, type InputOptions } from "../../src/histories/reading/input.ts";
import type { Item, ProblemItem } from "../../src/histories/reading/item.ts";

/** The items of one source. */
export interface ReadSource {
  readonly source: ImportSource;
  readonly items: readonly Item[];
}

/** The sources that formats find at paths. */
export async function sourcesAt(
  paths: readonly string[],
  formats: readonly Format[],
): Promise<readonly FoundSource[]> {
  const found: FoundSource[] = [];
  for await (const one of findSources(paths, formats)) if ("source" in one) found.push(one);
  return found;
}

/** Problems found while searching for sources. */
export async function findingProblems(
  paths: readonly string[],
  formats: readonly Format[],
): Promise<readonly ProblemItem[]> {
  const problems: ProblemItem[] = [];
  for await (const one of findSources(paths, formats)) if (!("source" in one)) problems.push(one);
  return problems;
}

/** Finds and reads all sources at paths, as the importer would. */
export async function readAll(
  paths: readonly string[],
  formats: readonly Format[],
  options: Partial<InputOptions> = {},
): Promise<readonly ReadSource[]> {
  const all: ReadSource[] = [];
  for (const { source, format, root } of await sourcesAt(paths, formats)) {
    const items: Item[] = [];
    const input = new Input({ root, paths: source.paths, ...options });
    for await (const item of format.read(source, input)) items.push(item);
    all.push({ source, items });
  }
  return all;
}
