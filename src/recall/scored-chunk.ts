/** A chunk with its score. */
export interface ScoredChunk {
  readonly chunk: number;
  readonly score: number;
}

/** Selects sources: 1 at the number of each included source; undefined for all. */
export type SourceFilter = Uint8Array | undefined;
