import type { SessionId } from "../../model/entry.ts";
import type { Place } from "../../model/place.ts";

/** A stretch of an entry that is related to a question. */
export interface PagedStretch {
  readonly session: SessionId;
  readonly seq: number;
  /** Who says it. */
  readonly author: string;
  readonly at: number;
  /** Comparable only with scores of the same question. */
  readonly score: number;
  /** The whole text around the stretch, or as much of it as fits so many characters; undefined if it is gone. */
  read(maxCharacters: number): Promise<string | undefined>;
}

/** What the log holds about a question. */
export interface PagedStretches {
  /** Best first; several may be of one entry. */
  readonly stretches: readonly PagedStretch[];
  /** From 0 to 1: how much of what the question names is in the best stretches. */
  readonly certainty: number;
  /** How much the question names that is not said everywhere; "go on" is close to 0. */
  readonly specificity: number;
}

/** Finds what sessions hold about a question; memory does, above this layer. */
export interface Paging {
  related(
    question: string,
    sessions: readonly SessionId[],
    /** Entries from `before` on, in its session, are the question itself and what follows it. */
    options?: { readonly before?: Place; readonly signal?: AbortSignal },
  ): Promise<PagedStretches>;
}
