import type { MemoryStore } from "../../log/store/memory-store.ts";
import { checkTexts } from "../../model/argument-checks.ts";
import { buildPathFilter } from "./path-filter.ts";

const PAGE = 500;

/**
 * Removes files, and all files below folders, from the index, whether they still exist or not; returns their number.
 */
export async function forgetFiles(store: MemoryStore, paths: readonly string[]): Promise<number> {
  const isMeant = buildPathFilter(checkTexts("paths", paths));
  let forgotten = 0;
  for (let after = 0; ; ) {
    const page = await store.sources({ kind: "file", after, limit: PAGE });
    for (const { kind, name } of page) {
      if (!isMeant(name)) continue;
      await store.forget({ kind, name });
      forgotten++;
    }
    if (page.length < PAGE) return forgotten;
    after = page.at(-1)?.number ?? after;
  }
}
