import type { MemoryStore, SourceRecord, StoredChunk } from "../log/store/memory-store.ts";
import { type CandidateSet, toFile } from "./index/find-candidates.ts";
import type { FileCandidate } from "./rank/file-features.ts";
import type { FileTouch } from "./rank/file-touches.ts";
import type { SourceFilter } from "./scored-chunk.ts";

/** Files to add, paths to look at, folders to look in, and chunks to read of each file. */
const MAX_FILES = 24;
const MAX_PATHS = 60;
const MAX_ROOTS = 4;
const MAX_CHUNKS = 40;
const MAX_STEPS = 12;

/**
 * Adds the files that sessions touched last, whole, to the candidates: a request often continues the work on them
 * without a word of theirs.
 */
export async function addTouchedFiles(
  store: MemoryStore,
  found: CandidateSet,
  touches: readonly FileTouch[],
  filter: SourceFilter,
): Promise<CandidateSet> {
  const sources = new Map(found.sources);
  const chunks = new Map(found.chunks);
  const known = new Set(found.files.map(({ id }) => chunks.get(id)?.source));
  const roots = [
    ...new Set([...sources.values()].flatMap(({ kind, root }) => (kind === "file" ? (root ?? []) : []))),
  ];
  const added: SourceRecord[] = [];
  for (const path of listRecentPaths(touches)) {
    if (added.length >= MAX_FILES) break;
    const source = await findFile(store, path, roots.slice(0, MAX_ROOTS));
    if (!source || known.has(source.number) || (filter && filter[source.number] !== 1)) continue;
    known.add(source.number);
    added.push(source);
  }
  if (added.length === 0) return found;
  const ranges = added.map(({ number }) => ({ source: number, from: 1, to: 1 }));
  const bySource = Map.groupBy(await store.turns(ranges, MAX_CHUNKS), ({ source }) => source);
  const files: FileCandidate[] = [];
  for (const source of added) {
    const own = bySource.get(source.number);
    if (!own) continue;
    sources.set(source.number, source);
    for (const chunk of own) chunks.set(chunk.number, chunk);
    files.push(toWholeFile(source, own));
  }
  return { ...found, files: [...found.files, ...files], sources, chunks };
}

function listRecentPaths(touches: readonly FileTouch[]): string[] {
  return [...new Set(touches.map(({ path }) => path))].slice(0, MAX_PATHS);
}

/** The indexed file of a path, or the one with its end, for a path in another checkout. */
async function findFile(
  store: MemoryStore,
  path: string,
  roots: readonly string[],
): Promise<SourceRecord | undefined> {
  const isRooted = path.startsWith("/");
  const same = isRooted ? await store.source({ kind: "file", name: path }) : undefined;
  if (same || roots.some((root) => path.startsWith(`${root}/`))) return same;
  const steps = path.split("/");
  for (let from = isRooted ? 1 : 0; from < Math.min(steps.length, MAX_STEPS) - 1 || from === 0; from++) {
    const end = steps.slice(from).join("/");
    for (const root of roots) {
      const source = await store.source({ kind: "file", name: `${root}/${end}` });
      if (source) return source;
    }
    if (!isRooted) break;
  }
  return undefined;
}

function toWholeFile(source: SourceRecord, chunks: readonly StoredChunk[]): FileCandidate {
  const own = chunks.map(({ number, terms, traits }) => ({ id: number, terms, traits, similarity: null }));
  return toFile(source, chunks[0] as StoredChunk, own);
}
