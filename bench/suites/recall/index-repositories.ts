import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type OpenRecall, openRecall } from "./open-recall.ts";
import type { CodeQuestion } from "./swe-bench.ts";

/**
 * Repositories as folders, indexed as the product does; a later issue of the same repository
 * changes only differing files.
 */
export class IndexedRepositories {
  readonly #folder: string;
  readonly #opened = new Map<
    string,
    { readonly recall: OpenRecall; readonly written: Map<string, string> }
  >();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Indexes of the files in the order `recall` finds them; files not found are omitted. */
  async recall({ repository, text, files }: CodeQuestion): Promise<number[]> {
    const opened = this.#opened.get(repository) ?? { recall: await openRecall(), written: new Map() };
    this.#opened.set(repository, opened);
    const root = join(this.#folder, repository);
    await checkOut(root, files, opened.written);
    const { memory } = opened.recall;
    await memory.indexFiles([root]);
    const { hits } = await memory.recall(text, { scope: { files: [root] }, k: 1_000 });
    const places = new Map(files.map(({ path }, place) => [join(root, path), place]));
    return hits.flatMap((hit) => (hit.kind === "file" ? (places.get(hit.path) ?? []) : []));
  }

  async close(): Promise<void> {
    for (const { recall } of this.#opened.values()) await recall.close();
  }
}

async function checkOut(
  root: string,
  files: CodeQuestion["files"],
  written: Map<string, string>,
): Promise<void> {
  const wanted = new Set(files.map(({ path }) => path));
  for (const path of [...written.keys()].filter((one) => !wanted.has(one))) {
    await rm(join(root, path));
    written.delete(path);
  }
  for (const { path, text } of files) {
    if (written.get(path) === text) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    written.set(path, text);
  }
}
