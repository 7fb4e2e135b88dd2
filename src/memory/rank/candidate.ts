/** Who said something: a person, the model, or a tool; files and notes have no author. */
export type Author = "user" | "assistant" | "tool" | "none";

/** A piece of a candidate as the index keeps it. */
export interface CandidateChunk {
  readonly id: number;
  /** The chunk's terms in order, as `analyse` gave them. */
  readonly terms: readonly string[];
  /** What `traitsOf` gave for the chunk. */
  readonly traits: number;
  /** Cosine with the query, where both have a vector. */
  readonly similarity: number | null;
}

/** One thing that may answer a query: a turn of a session, with those of its chunks that the index found. */
export interface Candidate {
  readonly id: number;
  readonly session: number;
  /** Place of the turn in its session; neighbours differ by 1. */
  readonly position: number;
  readonly author: Author;
  /** Name of who speaks, where a session has more than one person. */
  readonly speaker: string | null;
  readonly atMs: number | null;
  /** Terms in the whole turn, also in chunks that are not here. */
  readonly length: number;
  readonly chunks: readonly CandidateChunk[];
}

/** What is known about everything that could have been a candidate. */
export interface Statistics {
  readonly chunks: number;
  readonly averageChunkLength: number;
  readonly averageLength: number;
  readonly sessions: number;
  readonly averageSessionLength: number;
  /** In how many chunks a term occurs. */
  frequencyOf(term: string): number;
  /** Terms in a whole session. */
  sessionLengthOf(session: number): number;
}

/** A term's direction in meaning, of length 1, and the signs of its numbers, 32 in each word, to compare by at a glance. */
export interface TermVector {
  readonly values: Float32Array;
  readonly signs: Int32Array;
}

/** Closeness of terms in meaning; the embedder's token vectors give it. */
export interface TermVectors {
  /** Undefined when the term is unknown. */
  vectorOf(term: string): TermVector | undefined;
}

/** What ranking knows beside the candidates. */
export interface RankContext {
  readonly statistics: Statistics;
  /** When the question is asked; without it "last Tuesday" says nothing. */
  readonly nowMs: number | null;
  /** Names of those who speak in the scope. */
  readonly speakers: readonly string[];
  readonly vectors: TermVectors | null;
}
