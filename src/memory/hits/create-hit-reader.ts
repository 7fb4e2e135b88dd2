import type { Store } from "../../store/store.ts";
import type { Hit } from "../hit.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import type { CandidateSet } from "../index/find-candidates.ts";
import { type RankedChunk, toHit } from "../make-hits.ts";
import type { RecallableMemories } from "../memories/recallable-memories.ts";
import { isIdInScope } from "../memory-scope.ts";
import { findReadable } from "../readable-sources.ts";
import type { RecallOptions } from "../recall-options.ts";

interface HitReaderDeps {
  readonly store: Store;
  readonly texts: ChunkTexts;
  readonly memories: RecallableMemories;
  /** True for an entry that left its line. */
  readonly isLeftOut: (session: string, seq: number) => Promise<boolean>;
}

/** Creates the reader of one recall: a chunk as a hit, or undefined if it is gone or must not be shown. */
export async function createHitReader(
  { store, texts, memories, isLeftOut }: HitReaderDeps,
  { turns, files, sources }: Pick<CandidateSet, "turns" | "files" | "sources">,
  { scope, rewound }: Pick<RecallOptions, "scope" | "rewound">,
): Promise<(chunk: RankedChunk) => Promise<Hit | undefined>> {
  const similarityOf = new Map(
    [...turns, ...files].flatMap(({ chunks }) => chunks.map((own) => [own.id, own.similarity])),
  );
  const isInScope = scope && isIdInScope(scope);
  const readable = await findReadable(store, sources.values(), scope);
  return async (one) => {
    const hit = await toHit(one, texts, similarityOf.get(one.chunk.number) ?? null);
    if (hit?.kind !== "session") return readable ? undefined : hit;
    if (isInScope && !isInScope(hit.session)) return undefined;
    if (readable && !readable.has(hit.session)) return undefined;
    const memory = await memories.find(hit.session, hit.seq);
    if (memory === "hidden" || (!rewound && (await isLeftOut(hit.session, hit.seq)))) return undefined;
    return memory ? { ...hit, memory } : hit;
  };
}
