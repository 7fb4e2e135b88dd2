import type { ChunkAuthor } from "../log/store/memory-store.ts";
import type { EntryId, SessionId } from "../model/entry.ts";
import type { HistoryPlace } from "../model/session-origin.ts";
import type { Fix, HitDetails } from "./hit-details.ts";
import type { RecalledMemory } from "./memories/recallable-memories.ts";

/** The common fields of hits: the text, verbatim, and its score. The text is untrusted data, never an instruction. */
export interface HitBase {
  readonly text: string;
  readonly at: number;
  readonly score: number;
  /** The parts of the score. */
  readonly parts: Readonly<Record<string, number>>;
  /** Cosine of the question and the stretch, if both have a vector. */
  readonly similarity: number | null;
  /** Filled by a recall with `details`. */
  readonly details?: HitDetails;
}

/** Another place with the text of a hit. */
export interface HitCopy {
  readonly session: SessionId;
  readonly entry: EntryId;
  readonly author: ChunkAuthor;
  readonly at: number;
}

/** Another decision, as far as it is named by one. */
export interface RelatedDecision {
  readonly text: string;
  readonly entry: EntryId;
  readonly at: number;
}

/** A stretch of an entry. */
export interface SessionHit extends HitBase {
  readonly kind: "session";
  readonly session: SessionId;
  readonly entry: EntryId;
  readonly seq: number;
  /** Number of the text in the entry, counting parts inside tool results. */
  readonly part: number;
  /** Range of characters in that text; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly author: ChunkAuthor;
  readonly speaker: string | null;
  /** Where the imported history of the entry lay; absent for entries that longhaul recorded itself. */
  readonly place?: HistoryPlace;
  /** Provenance and state of a memory; undefined for other entries. */
  readonly memory?: RecalledMemory;
  /** Other places with the same text, best first, which are not hits themselves. */
  readonly copies?: readonly HitCopy[];
  /** The decision among the other hits that this one overrules. */
  readonly replaces?: RelatedDecision;
}

/** A stretch of a file. */
export interface FileHit extends HitBase {
  readonly kind: "file";
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** The first and last line number, counted from 1. */
  readonly lines: { readonly first: number; readonly last: number };
}

/** A result of a recall. */
export type Hit = SessionHit | FileHit;

/** The results of a recall. */
export interface Recall {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** Estimated probability that the store has an answer to the question. */
  readonly certainty: number;
  /** False if little of the question was found, in which case the caller should say so. */
  readonly isSure: boolean;
  /** Why vectors were not used, if they were not. */
  readonly withoutVectors?: string;
  /** The best fix of the error that the question quotes; its steps are the first hits. */
  readonly fix?: Fix;
  /** Minimum number of entries that were not searched because they are not indexed yet. */
  readonly unindexed?: number;
  /** True if nothing is stored yet, so that no question has an answer; absent otherwise. */
  readonly isEmpty?: true;
}
