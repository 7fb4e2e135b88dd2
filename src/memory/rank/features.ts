import type { Candidate, RankContext } from "./candidate.ts";
import {
  divideByMost,
  emptyFeatures,
  type FeatureColumns,
  type FeatureTable,
  ownScore,
} from "./feature-list.ts";
import { fillKind } from "./kind-features.ts";
import { createMatcher, type Match } from "./matching.ts";
import type { Query } from "./query.ts";
import { createSoftMatcher } from "./soft-match.ts";
import { fillNeighbours, fillSessions } from "./surroundings.ts";

const SOFT_LIMIT = 100;

/** Computes every feature of every candidate, and the index of each one's best chunk. */
export function computeFeatures(
  query: Query,
  candidates: readonly Candidate[],
  context: RankContext,
): { features: FeatureTable; bestChunks: Int32Array } {
  const count = candidates.length;
  const features = emptyFeatures(count);
  const bestChunks = new Int32Array(count);
  const match = createMatcher(query, context);
  const matches: Match[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const found = match(candidate);
    matches.push(found);
    features.whole[index] = found.whole;
    features.chunk[index] = found.chunk;
    features.coverage[index] = found.coverage;
    features.chunkCoverage[index] = found.chunkCoverage;
    features.nearness[index] = found.nearness;
    features.names[index] = found.names;
    const { similarity, chunk } = closestChunk(candidate);
    features.similarity[index] = similarity;
    bestChunks[index] = found.chunk > 0 ? found.best : chunk;
    fillKind(features, index, candidate, query);
  }
  for (const name of ["whole", "chunk", "nearness", "similarity"] as const) divideByMost(features[name]);
  fillSoft(features, candidates, query, context);
  fillSessions(features, candidates, matches, query, context);
  fillNeighbours(features, candidates);
  return { features, bestChunks };
}

/** Comparing meanings word by word is expensive, so only the candidates with the best other features are compared. */
function fillSoft(
  features: FeatureColumns,
  candidates: readonly Candidate[],
  query: Query,
  { vectors, statistics }: RankContext,
): void {
  if (vectors === null) return;
  const soft = createSoftMatcher(query, vectors, statistics.averageLength);
  const scores = candidates.map((_, index) => ownScore(features, index));
  const best = scores.map((_, index) => index).sort((a, b) => (scores[b] as number) - (scores[a] as number));
  for (const index of best.slice(0, SOFT_LIMIT)) features.soft[index] = soft(candidates[index] as Candidate);
  divideByMost(features.soft);
}

function closestChunk({ chunks }: Candidate): { similarity: number; chunk: number } {
  let similarity = 0;
  let chunk = 0;
  for (const [index, { similarity: own }] of chunks.entries()) {
    if (own !== null && own > similarity) {
      similarity = own;
      chunk = index;
    }
  }
  return { similarity, chunk };
}
