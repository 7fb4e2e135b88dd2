import type { SourceRecord } from "../../log/store/memory-store.ts";
import type { Store } from "../../log/store/store.ts";
import type { SessionId } from "../../model/entry.ts";
import type { Hit } from "../hit.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import type { CandidateSet } from "../index/find-candidates.ts";
import { type RankedChunk, toHit } from "../make-hits.ts";
import type { RecallableMemories } from "../memories/recallable-memories.ts";
import { hasScopeOwner, isIdInScope, type MemoryScope } from "../memory-scope.ts";
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
  const isShown = await createEntryTest(store, { sources }, { scope, rewound }, isLeftOut);
  return async (one) => {
    const hit = await toHit(one, texts, similarityOf.get(one.chunk.number) ?? null);
    if (hit?.kind !== "session") return scope?.owners ? undefined : hit;
    const memory = await memories.find(hit.session, hit.seq);
    if (memory === "hidden" || !(await isShown(hit.session, hit.seq))) return undefined;
    return memory ? { ...hit, memory } : hit;
  };
}

/** Creates a test of entries: whether a recall may show them, by its scope, their owners and their session's line. */
export async function createEntryTest(
  store: Store,
  { sources }: Pick<CandidateSet, "sources">,
  { scope, rewound }: { readonly scope?: RecallOptions["scope"]; readonly rewound?: boolean | undefined },
  isLeftOut: HitReaderDeps["isLeftOut"],
): Promise<(session: SessionId, seq: number) => Promise<boolean>> {
  const isInScope = scope && isIdInScope(scope);
  const readable = await findReadable(store, sources.values(), scope);
  return async (session, seq) => {
    if ((isInScope && !isInScope(session)) || (readable && !readable.has(session))) return false;
    return rewound === true || !(await isLeftOut(session, seq));
  };
}

/**
 * The sessions among sources that the owners of a scope may read; undefined if the scope names none. Decided twice: here
 * by their ids, and by the policies of a store that has them, so that neither a wrong filter nor a wrong statement can
 * return content of others.
 */
async function findReadable(
  { sessions }: Pick<Store, "sessions">,
  sources: Iterable<SourceRecord>,
  scope: MemoryScope | undefined,
): Promise<ReadonlySet<SessionId> | undefined> {
  if (!scope?.owners) return undefined;
  const own = [...sources].filter(({ kind, name }) => kind === "session" && hasScopeOwner(scope, name));
  const ids = own.map(({ name }) => name);
  return (await sessions.readable?.(ids, scope.owners)) ?? new Set(ids);
}
