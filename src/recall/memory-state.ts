import type { Log } from "../log/log.ts";
import type { SourceKind } from "../log/store/memory-store.ts";
import { checkFields } from "../model/argument-checks.ts";
import type { SessionId } from "../model/entry.ts";
import { checkWholeNumber, createArgumentError } from "../model/errors.ts";
import type { ChunkVectors } from "./index/chunk-vectors.ts";
import type { LogFollower } from "./index/log-follower.ts";

/** State of the index. */
export interface MemoryState {
  readonly sources: number;
  readonly chunks: number;
  /** Entries of the log. */
  readonly entries: number;
  /** Entries of the log that are not indexed. */
  readonly unindexed: number;
  /** Chunks without a vector; 0 without an embedder. While there are many, recall ranks only by words. */
  readonly unembedded: number;
  /** False without an embedder: recall goes only by words. */
  readonly hasVectors: boolean;
}

/** A session or file in the index. */
export interface IndexSource {
  readonly kind: SourceKind;
  /** Id of the session, or path of the file. */
  readonly name: string;
  /** Last indexed seq of a session; 1 for a file. */
  readonly cursor: number;
  readonly chunks: number;
  /** The folder whose indexing found the file. */
  readonly root?: string;
  readonly sizeBytes?: number;
  readonly modifiedMs?: number;
  /** The position of the source, for `after`. */
  readonly number: number;
}

/** A part of the sources, in the order in which they came into the index. */
export interface SourceQuery {
  readonly kind?: SourceKind;
  /** Only sources with a higher number. */
  readonly after?: number;
  /** Default 100. */
  readonly limit?: number;
}

/** A session with entries that recall does not find yet. */
export interface UnindexedSession {
  readonly session: SessionId;
  readonly entries: number;
  /** Last indexed seq; 0 if the session is not in the index. */
  readonly indexed: number;
}

/** A page of sessions, in the order in which they came into the log. */
export interface UnindexedQuery {
  /** `after` of the page before. */
  readonly after?: number;
  /** Default 100. */
  readonly limit?: number;
}

/** `after` is null on the last page. */
export interface UnindexedPage {
  readonly sessions: readonly UnindexedSession[];
  readonly after: number | null;
}

const MAX_SOURCES = 1_000;
const HEADS_PER_PAGE = 1_000;
const KINDS: readonly unknown[] = [undefined, "session", "file"];

/** The size of the index, and the work that it still lacks. */
export async function readMemoryState(
  { log, embedder }: { readonly log: Log; readonly embedder: unknown },
  follower: Pick<LogFollower, "countEntries">,
  vectors: Pick<ChunkVectors, "countMissing">,
): Promise<MemoryState> {
  const { sources, chunks } = await log.store.memory.totals();
  const { all: entries, missing: unindexed } = await follower.countEntries();
  const unembedded = await vectors.countMissing().catch(() => chunks);
  return { sources, chunks, entries, unindexed, unembedded, hasVectors: embedder !== undefined };
}

/** Lists the sources of the index. */
export async function readIndexSources(log: Log, query: SourceQuery): Promise<readonly IndexSource[]> {
  const { kind, after = 0, limit = 100 } = checkFields("query", query);
  if (!KINDS.includes(kind)) throw createArgumentError("kind", kind, '"session" or "file"');
  const records = await log.store.memory.sources({
    ...(kind !== undefined && { kind }),
    after: checkWholeNumber("after", after, 0),
    limit: checkWholeNumber("limit", limit, 1, MAX_SOURCES),
  });
  return records.map(({ version: _, definitions: __, turns: ___, terms: ____, ...source }) => source);
}

/** Lists the sessions with entries that are not indexed. */
export async function readUnindexedSessions(log: Log, query: UnindexedQuery): Promise<UnindexedPage> {
  const { after: start = 0, limit = 100 } = checkFields("query", query);
  checkWholeNumber("limit", limit, 1, MAX_SOURCES);
  const { entries, memory } = log.store;
  const sessions: UnindexedSession[] = [];
  for (let after = checkWholeNumber("after", start, 0); ; ) {
    const heads = await entries.heads({ after, limit: HEADS_PER_PAGE });
    for (const { session, seq, place } of heads) {
      const indexed = (await memory.source({ kind: "session", name: session }))?.cursor ?? 0;
      if (indexed < seq) sessions.push({ session, entries: seq, indexed });
      if (sessions.length === limit) return { sessions, after: place };
    }
    if (heads.length < HEADS_PER_PAGE) return { sessions, after: null };
    after = heads.at(-1)?.place ?? after;
  }
}
