/** The author of a text: a person, the model, or a tool; files and notes have none. */
type Author = "user" | "assistant" | "tool" | "none";

/** A chunk of a candidate, as indexed. */
export interface CandidateChunk {
  readonly id: number;
  /** The chunk's terms in order, from `analyzeText`. */
  readonly terms: readonly string[];
  /** The chunk's traits, from `detectTraits`. */
  readonly traits: number;
  /** Cosine with the query, if both have a vector. */
  readonly similarity: number | null;
}

/** A possible answer to a query: a turn of a session, with those of its chunks that the index found. */
export interface TurnCandidate {
  readonly id: number;
  readonly session: number;
  /** Position of the turn in its session; neighbors differ by 1. */
  readonly position: number;
  readonly author: Author;
  /** Name of the speaker, in a session with several people. */
  readonly speaker: string | null;
  readonly atMs: number | null;
  /** Number of terms in the whole turn, including chunks that are not listed here. */
  readonly length: number;
  readonly chunks: readonly CandidateChunk[];
}

/** Statistics of all indexed content. */
export interface Statistics {
  readonly chunks: number;
  readonly averageChunkLength: number;
  readonly averageLength: number;
  readonly sessions: number;
  readonly averageSessionLength: number;
  /** Number of chunks in which a term occurs. */
  frequencyOf(term: string): number;
  /** Number of terms in a whole session. */
  sessionLengthOf(session: number): number;
}

/** The meaning of a term as a unit vector, with the signs of its components, 32 per word, for a fast comparison. */
export interface TermVector {
  readonly values: Float32Array;
  readonly signs: Int32Array;
  readonly dimensions: number;
}

/** Vectors of terms, from the embedder's token vectors. */
export interface TermVectors {
  /** Undefined for an unknown term. */
  vectorOf(term: string): TermVector | undefined;
}

/** Context of ranking other than the candidates. */
export interface RankContext {
  readonly statistics: Statistics;
  /** When the question is asked; without it, "last Tuesday" has no meaning. */
  readonly nowMs: number | null;
  /** Names of the speakers in the scope. */
  readonly speakers: readonly string[];
  readonly vectors: TermVectors | null;
}
