import type { SessionId } from "../model/entry.ts";

/** What text comes from: the log of a session, or a file on disk. */
export type SourceKind = "session" | "file";

/** Names a source: a session by its id, a file by its absolute path. */
export interface SourceName {
  readonly kind: SourceKind;
  readonly name: string;
}

/** Something whose text is indexed. */
export interface SourceRecord extends SourceName {
  readonly number: number;
  /** Changes when the source is another one under the same name: its chunks are then worth nothing. */
  readonly version: string;
  /** How far it is indexed: the last seq of a session, 1 for a file that is done. */
  readonly cursor: number;
  /** The folder whose indexing found a file. */
  readonly root?: string;
  readonly sizeBytes?: number;
  readonly modifiedMs?: number;
  /** Names that a file of code defines. */
  readonly definitions?: readonly string[];
  /** Turns, chunks and terms indexed so far. */
  readonly turns: number;
  readonly chunks: number;
  readonly terms: number;
}

/** What is written down of a source beside its chunks. */
export type SourceState = Pick<
  SourceRecord,
  "kind" | "name" | "version" | "cursor" | "root" | "sizeBytes" | "modifiedMs" | "definitions"
>;

/** Who speaks in a chunk. */
export const CHUNK_AUTHORS = ["none", "user", "assistant", "tool"] as const;

/** Who speaks in a chunk. */
export type ChunkAuthor = (typeof CHUNK_AUTHORS)[number];

/** A stretch of text that is found as one; the text itself stays where it is. */
export interface NewChunk {
  /** Seq of the entry; 0 in a file. */
  readonly seq: number;
  /** Place among the turns of the source, from 1 on without gaps. */
  readonly turn: number;
  /** Which of the entry's texts. */
  readonly part: number;
  /** Range in that text: characters of a part, lines of a file; `to` is the first place behind it. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly author: ChunkAuthor;
  readonly speaker?: string;
  readonly traits: number;
  /** Terms of the whole turn. */
  readonly turnLength: number;
  /** Names the text for the embedding cache. */
  readonly hash: Uint8Array;
  /** In the order of the text. */
  readonly terms: readonly string[];
}

/** A chunk as it is kept. */
export interface StoredChunk extends Omit<NewChunk, "speaker"> {
  readonly number: number;
  readonly source: number;
  readonly speaker: string | null;
}

/** What is added to a source in one go. */
export interface ChunkBatch {
  /** The source as it is afterwards. */
  readonly source: SourceState;
  /** Nothing happens unless this is how far the source is indexed now; undefined if it is not known yet. */
  readonly expected: number | undefined;
  /** Nor unless this is the index's stamp: else what the chunks were made of may have been erased since it was read. */
  readonly stamp: number;
  readonly chunks: readonly NewChunk[];
}

/** Chunks are numbered in the order they come, and never numbered anew; so many of them make a segment. */
export const SEGMENT_CHUNKS = 8_192;

/** Where the index stands; caches are good while `stamp` is the same, and need only what was added since. */
export interface IndexState {
  /** Number of the chunk added last. */
  readonly lastChunk: number;
  /** Segments 0 to n-1 have their postings; later chunks are only in their rows. */
  readonly sealed: number;
  /** Grows whenever something is forgotten, even if it was not there. */
  readonly stamp: number;
}

/** Sums over everything indexed. */
export interface IndexTotals {
  readonly sources: number;
  readonly turns: number;
  readonly chunks: number;
  readonly terms: number;
}

/** What the tail holds of a chunk. */
export interface TailChunk {
  readonly number: number;
  readonly source: number;
  readonly terms: Uint32Array;
}

/** The postings of one term in one segment; postings.ts says what is in the bytes. */
export interface PostingsRow {
  readonly segment: number;
  readonly term: number;
  readonly postings: Uint8Array;
}

/** A chunk that has no vector yet. */
export interface Unembedded {
  readonly number: number;
  readonly source: number;
  readonly seq: number;
  readonly part: number;
  readonly from: number;
  readonly to: number;
  readonly hash: Uint8Array;
}

/** A vector of one chunk. */
export interface ChunkVector {
  readonly chunk: number;
  readonly vector: Int8Array;
}

/** Vectors by embedder: those of one are never mixed with another's. */
export interface VectorStore {
  /** The number of the embedder of that id, given now if it is new. */
  embedder(id: string, dimensions: number): Promise<number>;
  /** Chunks with a number above `after` that have no vector yet, in order. */
  missing(embedder: number, after: number, limit: number): Promise<readonly Unembedded[]>;
  write(embedder: number, vectors: readonly ChunkVector[]): Promise<void>;
  /** Single vectors of chunks with a number above `after`. */
  loose(embedder: number, after: number, limit: number): Promise<readonly ChunkVector[]>;
  /** Puts the vectors of a segment together; false if one of its chunks has none. */
  pack(embedder: number, segment: number): Promise<boolean>;
  packed(embedder: number): Promise<readonly number[]>;
  /** All vectors of a packed segment, one behind the other by place; zeros where there is none. */
  read(embedder: number, segment: number): Promise<Int8Array | undefined>;
  /** Removes the vectors of every other embedder; the cache keeps what it has. */
  dropOthers(embedder: number): Promise<void>;
  /** The cache without expiry: vectors by embedder and hash of the text. */
  cached(embedder: number, hashes: readonly Uint8Array[]): Promise<readonly (Int8Array | undefined)[]>;
  cache(
    embedder: number,
    entries: readonly { readonly hash: Uint8Array; readonly vector: Int8Array }[],
  ): Promise<void>;
}

/**
 * The index over everything said. All of it is derived: it can be dropped and is then built again. A damaged one is put
 * aside by whoever opens it; no call here ever holds up the log.
 */
export interface MemoryStore {
  readonly vectors: VectorStore;
  source(name: SourceName): Promise<SourceRecord | undefined>;
  sourcesByNumber(numbers: readonly number[]): Promise<readonly SourceRecord[]>;
  /** Sources in the order of their numbers. */
  sources(query: {
    readonly kind?: SourceKind;
    readonly root?: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<readonly SourceRecord[]>;
  /** Adds chunks and moves the cursor, both or neither; false if cursor or stamp are not what is expected. */
  add(batch: ChunkBatch): Promise<boolean>;
  /** Removes a source and its chunks; with `seqs`, only the chunks of these entries. Returns how many went. */
  forget(source: SourceName, seqs?: readonly number[]): Promise<number>;
  /** Notes that entries (or, with none given, a session) are about to go, so that a crash cannot leave their chunks. */
  expectErasure(session: SessionId, seqs?: readonly number[]): Promise<void>;
  /** What was noted and not yet forgotten. */
  expectedErasures(limit: number): Promise<readonly { readonly session: SessionId; readonly seq?: number }[]>;
  /** Takes a note back: what it announced is done, or did not happen. */
  settleErasure(session: SessionId, seqs?: readonly number[]): Promise<void>;
  state(): Promise<IndexState>;
  totals(): Promise<IndexTotals>;
  /** Names of who speaks in sessions where that is known. */
  speakers(limit: number): Promise<readonly string[]>;
  chunks(numbers: readonly number[]): Promise<readonly StoredChunk[]>;
  /** The chunks of a chunk's turn and, with a reach, of so many turns before and after it; at most `limit` each way. */
  around(
    chunks: readonly { readonly number: number; readonly reach: number }[],
    limit: number,
  ): Promise<readonly StoredChunk[]>;
  /** Numbers of the terms that are known. */
  termNumbers(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Chunks that are in no sealed segment, from a number on. */
  tail(from: number, limit: number): Promise<readonly TailChunk[]>;
  /** The postings of terms in the first `segments` segments, segment by segment. */
  postings(terms: readonly number[], segments: number): Promise<readonly PostingsRow[]>;
  /** The source of each chunk of a sealed segment by its place; 0 where there is none. */
  segmentSources(segment: number): Promise<Uint32Array>;
  /** Gives the next segment its postings if it is full; false if there is nothing to do. */
  seal(): Promise<boolean>;
  /** Bytes on disk. */
  sizeBytes(): Promise<number>;
  /** Gives unused space back. */
  vacuum(): Promise<void>;
}
