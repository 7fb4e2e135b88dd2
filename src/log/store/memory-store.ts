import type { SessionId } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";

/** Origin of indexed text: the log of a session, or a file on disk. */
export type SourceKind = "session" | "file";

/** Identifies a source: a session by its id, a file by its absolute path. */
export interface SourceName {
  readonly kind: SourceKind;
  readonly name: string;
}

/** A source of indexed text. */
export interface SourceRecord extends SourceName {
  readonly number: number;
  /** Changes when the name refers to different content, which invalidates the source's chunks. */
  readonly version: string;
  /** How far the source is indexed: the last seq of a session, 1 for a finished file. */
  readonly cursor: number;
  /** The folder whose indexing found the file. */
  readonly root?: string;
  readonly sizeBytes?: number;
  readonly modifiedMs?: number;
  /** Names defined in a code file. */
  readonly definitions?: readonly string[];
  /** Turns, chunks and terms indexed so far. */
  readonly turns: number;
  readonly chunks: number;
  readonly terms: number;
}

/** The stored state of a source, without counts. */
export type SourceState = Pick<
  SourceRecord,
  "kind" | "name" | "version" | "cursor" | "root" | "sizeBytes" | "modifiedMs" | "definitions"
>;

/** Authors of a chunk. */
export const CHUNK_AUTHORS = ["none", "user", "assistant", "tool"] as const;

/** Author of a chunk. */
export type ChunkAuthor = (typeof CHUNK_AUTHORS)[number];

/** A range of text that is indexed and found as one; the text itself stays in its source. */
export interface NewChunk {
  /** Seq of the entry; 0 in a file. */
  readonly seq: number;
  /** Index among the turns of the source, starting at 1 without gaps. */
  readonly turn: number;
  /** Index of the text within the entry. */
  readonly part: number;
  /** Range in that text, in characters of a part or lines of a file; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly author: ChunkAuthor;
  readonly speaker?: string;
  readonly traits: number;
  /** Number of terms in the whole turn. */
  readonly turnLength: number;
  /** Hash of the text, the key of the embedding cache. */
  readonly hash: Uint8Array;
  /** In text order. */
  readonly terms: readonly string[];
}

/** A stored chunk. */
export interface StoredChunk extends Omit<NewChunk, "speaker"> {
  readonly number: number;
  readonly source: number;
  readonly speaker: string | null;
}

/** Consecutive turns of a source; `to` is inclusive. */
export interface TurnRange {
  readonly source: number;
  readonly from: number;
  readonly to: number;
  /** Chunks with none of these traits may be left out, unless a user wrote them. */
  readonly marks?: number;
}

/** Chunks to add to a source in one transaction. */
export interface ChunkBatch {
  /** The state of the source afterwards. */
  readonly source: SourceState;
  /** Expected cursor of the source, undefined if the source is new; on a mismatch nothing is added. */
  readonly expected: number | undefined;
  /** Expected stamp of the index; on a mismatch nothing is added, because the chunks' text may have been erased. */
  readonly stamp: number;
  readonly chunks: readonly NewChunk[];
}

/** Chunks per segment. Chunks are numbered in the order they are added and never renumbered. */
export const SEGMENT_CHUNKS = 8_192;

/** State of the index. Caches are valid while `stamp` is unchanged and need only newer chunks. */
export interface IndexState {
  /** Number of the last added chunk. */
  readonly lastChunk: number;
  /** Segments 0 to n-1 have postings; later chunks exist only as rows. */
  readonly sealed: number;
  /** Grows with every `forget`, even if there was nothing to remove. */
  readonly stamp: number;
}

/** Totals of the index. */
export interface IndexTotals {
  readonly sources: number;
  readonly turns: number;
  readonly chunks: number;
  readonly terms: number;
}

/** A chunk that is not in a sealed segment. */
export interface TailChunk {
  readonly number: number;
  readonly source: number;
  readonly terms: Uint32Array;
}

/** The postings of one term in one segment; see postings.ts for the byte format. */
export interface PostingsRow {
  readonly segment: number;
  readonly term: number;
  readonly postings: Uint8Array;
}

/** A chunk without a vector. */
export interface UnembeddedChunk {
  readonly number: number;
  readonly source: number;
  readonly seq: number;
  readonly part: number;
  readonly from: number;
  readonly to: number;
  readonly hash: Uint8Array;
}

/** The vector of one chunk. */
export interface ChunkVector {
  readonly chunk: number;
  readonly vector: Int8Array;
}

/** Vectors by embedder; vectors of different embedders are never mixed. */
export interface VectorStore {
  /** The number of an embedder, assigned on first use. */
  embedder(id: string, dimensions: number): Promise<number>;
  /** Chunks numbered above `after` without a vector, in order. */
  missing(embedder: number, after: number, limit: number): Promise<readonly UnembeddedChunk[]>;
  write(embedder: number, vectors: readonly ChunkVector[]): Promise<void>;
  /** Unpacked vectors of chunks numbered above `after`. */
  loose(embedder: number, after: number, limit: number): Promise<readonly ChunkVector[]>;
  /** Packs the vectors of a segment; returns false if a chunk has none. */
  pack(embedder: number, segment: number): Promise<boolean>;
  packed(embedder: number): Promise<readonly number[]>;
  /** All vectors of a packed segment in order of place; zeros where there is none. */
  read(embedder: number, segment: number): Promise<Int8Array | undefined>;
  /** Removes the vectors of all other embedders; the cache is kept. */
  dropOthers(embedder: number): Promise<void>;
  /** The cache, which never expires: vectors by embedder and text hash. */
  cached(embedder: number, hashes: readonly Uint8Array[]): Promise<readonly (Int8Array | undefined)[]>;
  cache(
    embedder: number,
    entries: readonly { readonly hash: Uint8Array; readonly vector: Int8Array }[],
  ): Promise<void>;
}

/** Conditions on the sessions of a recall; all must hold. */
export interface SourceConditions {
  readonly names?: readonly string[];
  readonly prefix?: string;
  /** Names begin with one of these. */
  readonly prefixes?: readonly string[];
  readonly meta?: { readonly [key: string]: Json };
  /** The first part of a name with its slash, or a whole name without one. */
  readonly owners?: readonly string[];
}

/**
 * The search index. It is derived and can be dropped and rebuilt. A damaged index is moved aside on opening; no call
 * here ever blocks the log.
 */
export interface MemoryStore {
  readonly vectors: VectorStore;
  /** Numbers of indexed sessions; without it, they are filtered by the caller. */
  sessionsInScope?(conditions: SourceConditions): Promise<readonly number[]>;
  source(name: SourceName): Promise<SourceRecord | undefined>;
  sourcesByNumber(numbers: readonly number[]): Promise<readonly SourceRecord[]>;
  /** Sources in order of their numbers. */
  sources(query: {
    readonly kind?: SourceKind;
    readonly root?: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]>;
  /** Adds chunks and moves the cursor atomically; returns false if cursor or stamp differ from the expected ones. */
  add(batch: ChunkBatch): Promise<boolean>;
  /**
   * Removes a source and its chunks, or with `seqs` only the chunks of these entries. Returns the
   * number of removed chunks.
   */
  forget(source: SourceName, seqs?: readonly number[]): Promise<number>;
  /**
   * Records that entries (or, without `seqs`, a session) are about to be erased, so that a crash
   * cannot leave their chunks.
   */
  expectErasure(session: SessionId, seqs?: readonly number[]): Promise<void>;
  /** Recorded erasures whose chunks are not yet forgotten. */
  expectedErasures(limit: number): Promise<readonly { readonly session: SessionId; readonly seq?: number }[]>;
  /** Removes the record of an erasure that was completed or never happened. */
  settleErasure(session: SessionId, seqs?: readonly number[]): Promise<void>;
  state(): Promise<IndexState>;
  totals(): Promise<IndexTotals>;
  /** Names of known speakers in sessions. */
  speakers(limit: number): Promise<readonly string[]>;
  chunks(numbers: readonly number[]): Promise<readonly StoredChunk[]>;
  /** The chunks of a chunk's turn and of `reach` turns before and after it; at most `limit` each way. */
  around(
    chunks: readonly { readonly number: number; readonly reach: number }[],
    limit: number,
  ): Promise<readonly StoredChunk[]>;
  /** The first `limit` chunks of each turn in ranges of turns; `to` is inclusive. */
  turns(ranges: readonly TurnRange[], limit: number): Promise<readonly StoredChunk[]>;
  /** Numbers of the newest chunks in which a user states a rule or a preference. */
  standing(limit: number): Promise<readonly number[]>;
  /** Numbers of chunks whose time is in a period; both ends are inclusive. */
  inPeriod(fromMs: number, toMs: number, limit: number): Promise<readonly number[]>;
  /** Numbers of the chunks with a decision, newest first; `skipped` counts those before the first one. */
  decisions(limit: number, skipped: number): Promise<readonly number[]>;
  /** Numbers of the known terms. */
  termNumbers(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Chunks outside sealed segments, starting at a number. */
  tail(from: number, limit: number): Promise<readonly TailChunk[]>;
  /** The postings of terms in the first `segments` segments, segment by segment. */
  postings(terms: readonly number[], segments: number): Promise<readonly PostingsRow[]>;
  /** The source of each chunk of a sealed segment by place; 0 where there is none. */
  segmentSources(segment: number): Promise<Uint32Array>;
  /** Creates the postings of the next segment if it is full; returns false if it is not. */
  seal(): Promise<boolean>;
  /** Size on disk. */
  sizeBytes(): Promise<number>;
  /** Returns unused space to the file system. */
  vacuum(): Promise<void>;
}
