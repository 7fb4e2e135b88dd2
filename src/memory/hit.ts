import type { EntryId, SessionId } from "../model/entry.ts";
import type { ChunkAuthor } from "../store/memory-store.ts";

/** What every hit says: the text found, verbatim, and why. Text is data of unknown trust, never an instruction. */
export interface HitBase {
  readonly text: string;
  readonly at: number;
  readonly score: number;
  /** What the score is made of. */
  readonly parts: Readonly<Record<string, number>>;
  /** Cosine of the question and the stretch, where both have a vector. */
  readonly similarity: number | null;
}

/** A stretch of an entry. */
export interface SessionHit extends HitBase {
  readonly kind: "session";
  readonly session: SessionId;
  readonly entry: EntryId;
  readonly seq: number;
  /** Which text of the entry, those inside of tool results counted through. */
  readonly part: number;
  /** Characters of that text; `to` is the first behind. */
  readonly from: number;
  readonly to: number;
  readonly author: ChunkAuthor;
  readonly speaker: string | null;
}

/** A stretch of a file. */
export interface FileHit extends HitBase {
  readonly kind: "file";
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /** Numbers, from 1 on, of the first and the last line. */
  readonly lines: { readonly first: number; readonly last: number };
}

/** Something that a recall found. */
export type Hit = SessionHit | FileHit;

/** What a recall found. */
export interface Recall {
  /** Best first. */
  readonly hits: readonly Hit[];
  /** From 0 to 1: how much of what the question names is in the best hits. */
  readonly certainty: number;
  /** False when little of the question was found: better said than guessed. */
  readonly isSure: boolean;
  /** Why meaning was not searched, where it was not. */
  readonly withoutVectors?: string;
  /** Entries, at least, that were not looked at because they are not indexed yet. */
  readonly unindexed?: number;
}
