import type { StoredChunk } from "../log/store/memory-store.ts";
import type { CandidateSet } from "./index/find-candidates.ts";
import type { SearchResult } from "./index-search.ts";
import type { RankedChunk } from "./make-hits.ts";
import { parseQuery, type Query } from "./rank/query.ts";
import { parseIntent } from "./rank/question-intent.ts";
import { findScopeKind } from "./rank/scope-kind.ts";
import { computeDotProduct } from "./rank/soft-match.ts";
import type { RankContext } from "./rank/turn-candidate.ts";
import { EAST_ASIAN } from "./text/east-asian.ts";
import { EVIDENCE } from "./text/evidence.ts";
import { foldText } from "./text/fold-text.ts";

const MIN_CHUNKS = 1_000;

/** Share of the question's weight that the chunks together contain; rare words weigh more. */
function computeCoverage(
  terms: readonly string[],
  chunks: readonly StoredChunk[],
  { statistics }: Pick<RankContext, "statistics">,
): number {
  const present = new Set(chunks.flatMap((chunk) => chunk.terms));
  let all = 0;
  let covered = 0;
  for (const term of terms) {
    const weight = computeWeight(term, statistics);
    all += weight;
    if (present.has(term)) covered += weight;
  }
  return all > 0 ? covered / all : 0;
}

/**
 * Share of the question's content in the best chunks, or the similarity of the first chunk if that is higher, from 0 to
 * 1.
 */
export function computeCertainty(
  terms: readonly string[],
  best: readonly RankedChunk[],
  { turns, files }: CandidateSet,
  context: Pick<RankContext, "statistics">,
): number {
  const first = best[0]?.chunk.number;
  const chunks = first === undefined ? [] : [...turns, ...files].flatMap((own) => own.chunks);
  const similarity = chunks.find(({ id }) => id === first)?.similarity ?? 0;
  const coverage = computeCoverage(
    terms,
    best.map(({ chunk }) => chunk),
    context,
  );
  return Math.min(1, Math.max(coverage, similarity));
}

/** Number of best hits in which the words of the question are looked for, and of the rarest words compared. */
const BEST_HITS = 3;
const RAREST_WORDS = 4;
/** Number of hits in which speakers are compared. */
const SPEAKER_HITS = 30;
/** Nothing is certain: words and vectors do not understand a question. */
const MAX_CERTAINTY = 0.95;

/**
 * Probability that the store can answer the question, a logistic function of four figures: the share of the question in
 * the best hits, the first one's similarity, the worst match among the rarest words, and how much better the person
 * that the question names fits than others. Fitted on questions that a store can and cannot answer; see
 * docs/internals/search.md.
 */
function estimateCertainty(
  question: string,
  terms: readonly string[],
  hits: readonly Pick<RankedChunk, "chunk">[],
  similarity: number | null,
  context: RankContext,
): number {
  const best = hits.slice(0, BEST_HITS).map(({ chunk }) => chunk);
  if (best.length === 0) return 0;
  const query = parseQuery(question, context);
  const coverage = computeCoverage(terms, best, context);
  const closeness = Math.max(0, similarity ?? computeCoverage(terms, best.slice(0, 1), context));
  const evidence =
    2.2 * coverage +
    1.7 * closeness +
    1.1 * (findWorstMatch(query, best, context) ?? coverage) +
    4.1 * compareSpeakers(query, hits.slice(0, SPEAKER_HITS), context);
  return Math.min(MAX_CERTAINTY, 1 / (1 + Math.exp(2.5 - evidence)));
}

/**
 * The certainty of a recall: over agents' work by figures of its own, elsewhere by those of conversations. In a small
 * store, leads and agreements say little, so the higher one of both counts.
 */
export function estimateRecallCertainty(
  { question, terms, found, ranked, context }: Omit<SearchResult, "wholeTerms" | "reason">,
  hits: readonly RankedChunk[],
  similarity: number | null,
): number {
  const isWork = findScopeKind(found.turns, context) === "work";
  const isSmall = context.statistics.chunks < MIN_CHUNKS;
  const general = isWork && !isSmall ? 0 : estimateCertainty(question, terms, hits, similarity, context);
  if (!isWork) return general;
  const { chunks } = found;
  return Math.max(general, estimateWorkCertainty(question, terms, hits, { ranked, chunks }, context));
}

/** Number of best hits whose sessions are compared. */
const SESSION_HITS = 5;
/** Brings the part of a score that the work around a hit contributes to the size of the other figures. */
const WORK_PART = 5;

/**
 * Weights of `estimateWorkCertainty` in the order of its figures, the constant last. Fitted on questions over agents'
 * histories, each asked also without the sessions that answer it. On sessions that were not used to fit them, the area
 * under the curve (found among the first five or not) is .95 for words and .88 for work.
 */
const WORK_WEIGHTS: Readonly<Record<"words" | "work", readonly number[]>> = {
  words: [4.32, 1.47, 2.38, -1.12, -0.73, 7.57, 1.86, -7],
  work: [-0.79, -0.53, 1, 1.41, 1.7, 1.29, 4.05, -3.46],
};

/**
 * Probability that agents' work has the answer among the first hits. The first hit may share no word with the question,
 * as an edit with the request for it, so the figures are also of its session: the share of the question in the first hit,
 * in that session's best chunk and in the best three hits; the lead of that session over others in this share and in
 * score; the agreement of the first hits on it; and the support of the hit by the work around it.
 */
function estimateWorkCertainty(
  question: string,
  terms: readonly string[],
  hits: readonly RankedChunk[],
  { ranked, chunks }: { readonly ranked: readonly RankedChunk[] } & Pick<CandidateSet, "chunks">,
  context: Pick<RankContext, "statistics">,
): number {
  const [first] = hits;
  if (!first) return 0;
  const { wants } = parseIntent(question);
  const isEdit = (first.chunk.traits & EVIDENCE.edit) !== 0;
  const kind = wants === "either" ? (isEdit ? "work" : "words") : wants;
  const { source } = first.chunk;
  const share = (chunk: StoredChunk) => computeCoverage(terms, [chunk], context);
  let [inside, outside] = [share(first.chunk), 0];
  for (const chunk of chunks.values()) {
    if (chunk.source === source) inside = Math.max(inside, share(chunk));
    else outside = Math.max(outside, share(chunk));
  }
  const other = ranked.find(({ chunk }) => chunk.source !== source)?.score ?? 0;
  const shown = hits.slice(0, SESSION_HITS);
  const figures = [
    share(first.chunk),
    inside,
    hits.slice(0, BEST_HITS).reduce((most, { chunk }) => Math.max(most, share(chunk)), 0),
    inside - outside,
    shown.filter(({ chunk }) => chunk.source === source).length / shown.length,
    first.score > 0 ? (first.score - other) / first.score : 0,
    (first.parts.work ?? 0) / WORK_PART,
    1,
  ];
  const sum = figures.reduce(
    (total, value, index) => total + value * (WORK_WEIGHTS[kind][index] as number),
    0,
  );
  return Math.min(MAX_CERTAINTY, 1 / (1 + Math.exp(-sum)));
}

/**
 * For each of the question's rarest words the closest word of the chunks, as a cosine; the lowest of these. Undefined
 * without words: pairs of East Asian characters may span two words, and such a pair says nothing if it is missing.
 */
function findWorstMatch(
  { terms }: Query,
  chunks: readonly StoredChunk[],
  context: RankContext,
): number | undefined {
  const words = terms.filter((term) => !EAST_ASIAN.test(term));
  if (words.length === 0) return undefined;
  const weightOf = new Map(words.map((term) => [term, computeWeight(term, context.statistics)]));
  const rarest = words
    .sort((left, right) => (weightOf.get(right) ?? 0) - (weightOf.get(left) ?? 0))
    .slice(0, RAREST_WORDS);
  const present = new Set(chunks.flatMap((chunk) => chunk.terms));
  const closestOf = (term: string): number => {
    if (present.has(term)) return 1;
    const own = context.vectors?.vectorOf(term);
    let closest = 0;
    if (own)
      for (const other of present) {
        const vector = context.vectors?.vectorOf(other);
        if (vector) closest = Math.max(closest, computeDotProduct(own.values, vector.values));
      }
    return closest;
  };
  return rarest.reduce((worst, term) => Math.min(worst, closestOf(term)), 1);
}

/**
 * The best share of the question in turns of the one person it names, minus that in turns of others: negative if the
 * fact is known of someone else. 0 if the question names none or several.
 */
function compareSpeakers(
  { speakers, terms }: Query,
  hits: readonly Pick<RankedChunk, "chunk">[],
  context: RankContext,
): number {
  if (speakers.length !== 1) return 0;
  let [own, other] = [0, 0];
  for (const { chunk } of hits) {
    const coverage = computeCoverage(terms, [chunk], context);
    if (chunk.speaker !== null && foldText(chunk.speaker) === speakers[0]) own = Math.max(own, coverage);
    else other = Math.max(other, coverage);
  }
  return own - other;
}

/** The weight of those question terms that occur at all: "go on" has almost none, a name or two have much. */
export function computeSpecificity(
  terms: readonly string[],
  { statistics }: Pick<RankContext, "statistics">,
): number {
  let sum = 0;
  for (const term of terms) if (statistics.frequencyOf(term) > 0) sum += computeWeight(term, statistics);
  return sum;
}

/** Rare words weigh more. The minimum total prevents every word from looking common among a few chunks. */
function computeWeight(term: string, statistics: RankContext["statistics"]): number {
  const total = Math.max(MIN_CHUNKS, statistics.chunks);
  const frequency = statistics.frequencyOf(term);
  return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
}
