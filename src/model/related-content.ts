import type { SessionId } from "./entry.ts";

/** A range of an entry that is related to a question. */
export interface RelatedStretch {
  readonly session: SessionId;
  readonly seq: number;
  /** Author: "user", "assistant" or "tool". */
  readonly author: string;
  readonly at: number;
  /** Comparable only with scores of the same question. */
  readonly score: number;
  /** The text around the range, up to `maxCharacters`; undefined if it is gone. */
  read(maxCharacters: number): Promise<string | undefined>;
}

/** Entries of some sessions that are related to a question. */
export interface RelatedContent {
  /** Best first; an entry may appear several times. */
  readonly stretches: readonly RelatedStretch[];
  /** Share of the question's terms found in the best stretches, from 0 to 1. */
  readonly certainty: number;
  /** How specific the question's terms are; "go on" is close to 0. */
  readonly specificity: number;
}
