/** A chunk and its score. */
export interface ScoredRow {
  readonly chunk: number;
  readonly score: number;
}

/** Selects sources: 1 at the number of each included source; undefined for all. */
export type SourceSelection = Uint8Array | undefined;

/** A term of a question. */
export interface ServedTerm {
  readonly term: string;
  readonly number: number;
  /** Number of chunks in which it occurs. */
  readonly frequency: number;
  /** Weight of an occurrence. */
  readonly rarity: number;
}

/** Terms to search on the server. */
export interface ServedTerms {
  readonly terms: readonly ServedTerm[];
  /** Number of all chunks. */
  readonly total: number;
  readonly filter: SourceSelection;
  readonly limit: number;
}

/** A vector to search on the server. */
export interface ServedVector {
  readonly embedder: number;
  readonly vector: Int8Array;
  /** Only chunks of the first segments. */
  readonly segments: number;
  readonly filter: SourceSelection;
  readonly limit: number;
}

/**
 * Search in the store itself, for an index that is too large for the memory of a process. It finds candidates; the
 * ranker is the same.
 */
export interface IndexServer {
  /** Number of chunks of the first `segments` segments in which each term occurs. */
  countChunks(terms: readonly string[], segments: number): Promise<ReadonlyMap<string, number>>;
  /** Chunks of the served segments with the terms, best first; of very common terms not all are considered. */
  findByTerms(query: ServedTerms): Promise<readonly ScoredRow[]>;
  /** The first n segments whose vectors are searched here; 0 if the store cannot. */
  servedVectors(embedder: number): Promise<number>;
  /** The chunks with the highest inner products, approximately. */
  findByVector(query: ServedVector): Promise<readonly ScoredRow[]>;
  /** Inner products of single chunks; those without a vector are left out. */
  products(
    embedder: number,
    vector: Int8Array,
    chunks: readonly number[],
  ): Promise<ReadonlyMap<number, number>>;
  /** The same as `standing` of the store, restricted to the selected sources. */
  standing(limit: number, filter: SourceSelection): Promise<readonly number[]>;
  /** The same as `inPeriod` of the store, restricted to the selected sources. */
  inPeriod(fromMs: number, toMs: number, limit: number, filter: SourceSelection): Promise<readonly number[]>;
}
