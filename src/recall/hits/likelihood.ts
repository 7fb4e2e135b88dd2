import { checkFields } from "../../model/argument-checks.ts";

/** How likely a hit answers the question, in words. */
export type Likelihood = "very likely" | "likely" | "perhaps";

/** Lower bounds of the words; docs/cli.md gives the share of hits that were right. */
const MIN_VERY_LIKELY = 0.8;
const MIN_LIKELY = 0.65;

/**
 * Says in words how likely a hit answers the question: the certainty of the recall, as far as the hit's score comes near
 * the best one.
 */
export function describeLikelihood(
  hit: { readonly score: number },
  recall: { readonly certainty: number; readonly hits: readonly { readonly score: number }[] },
): Likelihood {
  checkFields("hit", hit, { score: "number" });
  const { hits, certainty } = checkFields("recall", recall, { hits: "array", certainty: "number" });
  const best = hits.reduce((most, { score }) => Math.max(most, score), 0);
  const likelihood = best > 0 ? (certainty * Math.max(0, hit.score)) / best : 0;
  if (likelihood >= MIN_VERY_LIKELY) return "very likely";
  return likelihood >= MIN_LIKELY ? "likely" : "perhaps";
}
