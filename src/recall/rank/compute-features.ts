import { fillMissingSimilarities } from "./expected-similarity.ts";
import {
  computeOwnScore,
  createFeatureColumns,
  type FeatureColumns,
  type FeatureTable,
  scaleToOne,
} from "./feature-list.ts";
import { fillKindFeatures } from "./kind-features.ts";
import type { Query } from "./query.ts";
import { createSoftMatcher } from "./soft-match.ts";
import { fillNeighborFeatures, fillSessionFeatures } from "./surrounding-features.ts";
import { createTermMatcher, type TermMatch } from "./term-match.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";
import { fillWorkFeatures } from "./work-features.ts";

const SOFT_LIMIT = 100;

/** Computes every feature of every candidate, and the index of each one's best chunk. */
export function computeFeatures(
  query: Query,
  candidates: readonly TurnCandidate[],
  context: RankContext,
): { features: FeatureTable; bestChunks: Int32Array } {
  const count = candidates.length;
  const features = createFeatureColumns(count);
  const bestChunks = new Int32Array(count);
  const match = createTermMatcher(query, context);
  const matches: TermMatch[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const found = match(candidate);
    matches.push(found);
    features.whole[index] = found.whole;
    features.chunk[index] = found.chunk;
    features.coverage[index] = found.coverage;
    features.chunkCoverage[index] = found.chunkCoverage;
    features.nearness[index] = found.nearness;
    features.names[index] = found.names;
    const { similarity, chunk } = findClosestChunk(candidate);
    features.similarity[index] = similarity;
    bestChunks[index] = found.chunk > 0 ? found.best : chunk;
    fillKindFeatures(features, index, candidate, query);
  }
  fillMissingSimilarities(features.similarity, features.chunk);
  for (const name of ["whole", "chunk", "nearness", "similarity"] as const) scaleToOne(features[name]);
  fillSoft(features, candidates, query, context);
  fillSessionFeatures(features, candidates, matches, query, context);
  fillNeighborFeatures(features, candidates, matches, query);
  fillWorkFeatures(features, candidates, matches, bestChunks);
  // A reply repeats the message before it, and material for a summary repeats itself.
  if (!query.intent.aboutAssistant && !query.intent.recap) features.repeat.set(features.earlierWork);
  return { features, bestChunks };
}

/** Comparing meanings word by word is expensive, so only the candidates with the best other features are compared. */
function fillSoft(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  query: Query,
  { vectors, statistics }: RankContext,
): void {
  if (vectors === null) return;
  const soft = createSoftMatcher(query, vectors, statistics.averageLength);
  const scores = candidates.map((_, index) => computeOwnScore(features, index));
  const best = scores.map((_, index) => index).sort((a, b) => (scores[b] as number) - (scores[a] as number));
  for (const index of best.slice(0, SOFT_LIMIT))
    features.soft[index] = soft(candidates[index] as TurnCandidate);
  scaleToOne(features.soft);
}

/** The similarity is NaN if no chunk has a vector. */
function findClosestChunk({ chunks }: TurnCandidate): { similarity: number; chunk: number } {
  let similarity = Number.NaN;
  let chunk = 0;
  for (const [index, { similarity: own }] of chunks.entries()) {
    if (own === null) continue;
    if (Number.isNaN(similarity) || own > similarity) chunk = index;
    similarity = Number.isNaN(similarity) ? Math.max(0, own) : Math.max(similarity, own);
  }
  return { similarity, chunk };
}
