import { computeFeatures } from "./compute-features.ts";
import {
  type Feature,
  type FeatureTable,
  PART_OF,
  RANK_FEATURES,
  type RankedHit,
  type ScorePart,
} from "./feature-list.ts";
import { FEATURE_WEIGHTS, type WeightSet } from "./feature-weights.ts";
import { putNewestVersionsFirst } from "./newest-versions.ts";
import { parseQuery, type Query } from "./query.ts";
import { findScopeKind } from "./scope-kind.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

export type { RankedHit } from "./feature-list.ts";

/** A question that repeats a person's message from this share on is that message, and wants the work after it. */
const MIN_REPEATED = 0.85;
/** An agent tells of one thing again and again; a later telling that answers much worse is not a newer version of a fact. */
const MIN_NARRATED = 0.9;
/** How much the first places count more than later ones when two orders are merged. */
const MERGE_OFFSET = 2;

const NO_PARTS = Object.fromEntries(
  [...Object.values(PART_OF), "recency"].map((part) => [part, 0]),
) as Record<ScorePart, number>;

/** The best candidates first, at most `limit`; scores of different questions are not comparable. */
export function rankTurns(
  question: string,
  candidates: readonly TurnCandidate[],
  context: RankContext,
  limit = candidates.length,
): RankedHit[] {
  const query = parseQuery(question, context);
  const { features, bestChunks } = computeFeatures(query, candidates, context);
  const sets = chooseWeights(query, candidates, context, features);
  const lists = sets.map((set) => scoreBy(features, FEATURE_WEIGHTS[set], candidates));
  const { columns, scores, order } = lists.length > 1 ? mergeByRank(lists) : (lists[0] as ScoredOrder);

  const candidateOf = new Map<RankedHit, TurnCandidate>();
  const hits = order.slice(0, limit).map((index): RankedHit => {
    const candidate = candidates[index] as TurnCandidate;
    const { id, session, chunks } = candidate;
    const parts = { ...NO_PARTS };
    for (const { values, weight, part } of columns) parts[part] += weight * (values[index] as number);
    const chunk = chunks[bestChunks[index] as number]?.id ?? null;
    const hit = { id, session, chunk, score: scores[index] as number, parts };
    candidateOf.set(hit, candidate);
    return hit;
  });
  const leastShare = sets.includes("words") ? MIN_NARRATED : 0;
  return putNewestVersionsFirst(question, query, hits, (hit) => candidateOf.get(hit), leastShare);
}

/** Candidates in order, with the columns of their scores. */
interface ScoredOrder {
  readonly columns: readonly {
    readonly values: Float64Array;
    readonly weight: number;
    readonly part: ScorePart;
  }[];
  readonly scores: Float64Array;
  /** Indexes of candidates, best first. */
  readonly order: readonly number[];
}

/**
 * The weights for a question: in agents' work those of its kind of answer, or both if it does not tell. Without an edit
 * among the candidates, work is not told from words; with one that followed the message which the question repeats, it
 * is the answer.
 */
function chooseWeights(
  { intent }: Query,
  candidates: readonly TurnCandidate[],
  context: RankContext,
  { coverage, edit, requested }: FeatureTable,
): readonly WeightSet[] {
  const kind = findScopeKind(candidates, context);
  if (kind !== "work") return [kind];
  if (intent.wants === "words") return ["words"];
  const hasEdits = edit.some((value) => value > 0);
  const isRepeated = candidates.some(
    ({ author }, index) => author === "user" && (coverage[index] as number) >= MIN_REPEATED,
  );
  const isWork = intent.wants === "work" || (isRepeated && requested.some((value) => value > 0));
  return hasEdits && isWork ? ["work"] : ["words", "work"];
}

function scoreBy(
  features: FeatureTable,
  weights: Readonly<Partial<Record<Feature, number>>>,
  candidates: readonly TurnCandidate[],
): ScoredOrder {
  const columns = RANK_FEATURES.map((feature) => ({
    values: features[feature],
    weight: weights[feature] ?? 0,
    part: PART_OF[feature],
  })).filter(({ weight }) => weight !== 0);
  const scores = new Float64Array(candidates.length);
  for (const { values, weight } of columns) {
    for (let index = 0; index < scores.length; index++)
      scores[index] = (scores[index] as number) + weight * (values[index] as number);
  }
  const atOf = (index: number) => candidates[index]?.atMs ?? 0;
  const order = candidates
    .map((_, index) => index)
    .sort(
      (left, right) =>
        (scores[right] as number) - (scores[left] as number) || atOf(right) - atOf(left) || left - right,
    );
  return { columns, scores, order };
}

/**
 * Merges orders by their places, because scores of different weights are not comparable. Each place keeps the score
 * that it has in the first list, so that scores fall from the first candidate to the last.
 */
function mergeByRank(lists: readonly ScoredOrder[]): ScoredOrder {
  const first = lists[0] as ScoredOrder;
  const worth = new Float64Array(first.scores.length);
  for (const { order } of lists)
    for (const [place, index] of order.entries())
      worth[index] = (worth[index] as number) + 1 / (MERGE_OFFSET + place);
  const order = [...first.order].sort((left, right) => (worth[right] as number) - (worth[left] as number));
  const scores = new Float64Array(first.scores.length);
  for (const [place, index] of order.entries())
    scores[index] = first.scores[first.order[place] as number] as number;
  return { columns: first.columns, scores, order };
}
