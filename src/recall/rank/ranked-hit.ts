import type { ScorePart } from "./feature-weights.ts";

/** A candidate with its score and the parts of the score. */
export interface RankedHit {
  readonly id: number;
  readonly session: number;
  /** Id of the best chunk; null for a candidate without chunks. */
  readonly chunk: number | null;
  readonly score: number;
  readonly parts: Readonly<Record<ScorePart, number>>;
}
