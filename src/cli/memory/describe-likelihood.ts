import type { RecalledHit, RecallResult } from "./recall-result.ts";

/** Lower bounds of the words; docs/cli.md gives the share of hits that were right. */
const MIN_VERY_LIKELY = 0.8;
const MIN_LIKELY = 0.65;

/**
 * Says in words how likely a hit answers the question: the certainty of the recall, as far as the hit's score comes near
 * the best one.
 */
export function describeLikelihood(hit: RecalledHit, { hits, certainty }: RecallResult): string {
  const best = hits.reduce((most, { score }) => Math.max(most, score), 0);
  const likelihood = best > 0 ? (certainty * Math.max(0, hit.score)) / best : 0;
  if (likelihood >= MIN_VERY_LIKELY) return "very likely";
  return likelihood >= MIN_LIKELY ? "likely" : "perhaps";
}
