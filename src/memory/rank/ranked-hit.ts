import type { Part } from "./weights.ts";

/** A candidate with its score and what that is made of. */
export interface RankedHit {
  readonly id: number;
  readonly session: number;
  /** Id of the chunk that fits best; null for a candidate without chunks. */
  readonly chunk: number | null;
  readonly score: number;
  readonly parts: Readonly<Record<Part, number>>;
}
