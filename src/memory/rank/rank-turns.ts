import { computeFeatures } from "./compute-features.ts";
import { RANK_FEATURES } from "./feature-list.ts";
import { FEATURE_WEIGHTS, PART_OF } from "./feature-weights.ts";
import { putNewestVersionsFirst } from "./newest-versions.ts";
import { parseQuery } from "./query.ts";
import type { RankedHit } from "./ranked-hit.ts";
import { findScopeKind } from "./scope-kind.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

export type { RankedHit } from "./ranked-hit.ts";

/** The best candidates first, at most `limit`; scores of different questions are not comparable. */
export function rankTurns(
  question: string,
  candidates: readonly TurnCandidate[],
  context: RankContext,
  limit = candidates.length,
): RankedHit[] {
  const query = parseQuery(question, context);
  const { features, bestChunks } = computeFeatures(query, candidates, context);
  const weights = FEATURE_WEIGHTS[findScopeKind(candidates, context)];
  const columns = RANK_FEATURES.map((feature) => ({
    values: features[feature],
    weight: weights[feature],
    part: PART_OF[feature],
  })).filter(({ weight }) => weight !== 0);

  const scores = new Float64Array(candidates.length);
  for (const { values, weight } of columns) {
    for (let index = 0; index < scores.length; index++) {
      scores[index] = (scores[index] as number) + weight * (values[index] as number);
    }
  }
  const order = candidates.map((_, index) => index);
  const atOf = (index: number) => candidates[index]?.atMs ?? 0;
  order.sort(
    (left, right) =>
      (scores[right] as number) - (scores[left] as number) || atOf(right) - atOf(left) || left - right,
  );

  const candidateOf = new Map<RankedHit, TurnCandidate>();
  const hits = order.slice(0, limit).map((index): RankedHit => {
    const candidate = candidates[index] as TurnCandidate;
    const { id, session, chunks } = candidate;
    const parts = {
      words: 0,
      meaning: 0,
      session: 0,
      neighbours: 0,
      work: 0,
      speaker: 0,
      time: 0,
      kind: 0,
      recency: 0,
    };
    for (const { values, weight, part } of columns) parts[part] += weight * (values[index] as number);
    const chunk = chunks[bestChunks[index] as number]?.id ?? null;
    const hit = { id, session, chunk, score: scores[index] as number, parts };
    candidateOf.set(hit, candidate);
    return hit;
  });
  return putNewestVersionsFirst(question, query, hits, (hit) => candidateOf.get(hit));
}
