import type { SessionId } from "./entry.ts";

/** A stretch of an entry that is related to a question. */
export interface RelatedStretch {
  readonly session: SessionId;
  readonly seq: number;
  /** Who says it: "user", "assistant" or "tool". */
  readonly author: string;
  readonly at: number;
  /** Comparable only with scores of the same question. */
  readonly score: number;
  /** The whole text around the stretch, or as much of it as fits so many characters; undefined if it is gone. */
  read(maxCharacters: number): Promise<string | undefined>;
}

/** What some sessions say about a question. */
export interface Related {
  /** Best first; several may be of one entry. */
  readonly stretches: readonly RelatedStretch[];
  /** From 0 to 1: how much of what the question names is in the best stretches. */
  readonly certainty: number;
  /** How much the question names that is not said everywhere; "go on" is close to 0. */
  readonly specificity: number;
}
