import type { StoredChunk } from "../log/store/memory-store.ts";
import { foldText } from "../model/sentences.ts";
import type { CandidateSet } from "./index/find-candidates.ts";
import type { SearchResult } from "./index-search.ts";
import type { RankedChunk } from "./make-hits.ts";
import { parseQuery, type Query } from "./rank/query.ts";
import { findScopeKind } from "./rank/scope-kind.ts";
import { computeDotProduct } from "./rank/soft-match.ts";
import type { RankContext } from "./rank/turn-candidate.ts";
import { EAST_ASIAN } from "./text/east-asian.ts";
import { EVIDENCE } from "./text/evidence.ts";

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

/** Number of best hits whose words count, of those that show how far the first one stands out, and of speakers' hits. */
const BEST_HITS = 3;
const COMPARED_HITS = 10;
const SPEAKER_HITS = 30;
/** Number of the question's rarest words to find a counterpart for. */
const RAREST_WORDS = 4;
/** A question is specific enough if its words weigh as much as this many that only one chunk contains. */
const ENOUGH_RARE_WORDS = 2.2;
/** Least cosine of a word that stands for another one. */
const MIN_COSINE = 0.45;
/** Hits this many turns apart continue one another, and are of one piece of work. */
const AROUND_TURNS = 2;
const PIECE_TURNS = 30;
/** Brings scores to the size of the other figures. */
const SCORE_SCALE = 5;
/** Nothing is certain: words and vectors do not understand a question. */
const MAX_CERTAINTY = 0.95;

type CertaintyKind = "people" | "assistant" | "words" | "work";

/**
 * Weights of a logistic function of the figures, for each kind of store and of question in agents' work. Fitted by
 * `bench/suites/recall/fit-certainty.ts` on questions with and without an answer, which prints the results on
 * conversations that were left out; see docs/internals/search.md.
 */
const CERTAINTY_WEIGHTS: Readonly<
  Record<CertaintyKind, Partial<Readonly<Record<keyof Evidence["figures"], number>>>>
> = {
  people: { constant: -2.41, speaker: 0.99, stranger: -2.87, around: 1.55, score: 0.79, others: -0.9 },
  assistant: { constant: -2.23, session: 1.75, names: 0.5, worst: 1.84, similarity: 0.28 },
  words: { constant: -4.42, first: 2.84, gap: 0.3, lead: 3.34, decision: 1.9, work: 4.81 },
  work: { constant: -8.64, inside: 5.77, textGap: 2.59, near: 1.72, work: 1.26, rarity: 1.37 },
};

type Searched = Pick<SearchResult, "question" | "found" | "ranked" | "context">;

/** The probability that a recall has the answer among its first hits. */
export function estimateRecallCertainty(
  searched: Searched,
  hits: readonly RankedChunk[],
  similarity: number | null,
): number {
  const evidence = measureEvidence(searched, hits, similarity);
  if (!evidence) return 0;
  const { kind, figures } = evidence;
  const isWork = kind === "words" || kind === "work";
  // In a small store, leads and agreements say little.
  const isSmall = searched.context.statistics.chunks < MIN_CHUNKS;
  const kinds: CertaintyKind[] = isWork && isSmall ? [kind, "assistant"] : [kind];
  const chances = kinds.map((own) => {
    const weights = Object.entries(CERTAINTY_WEIGHTS[own]) as [keyof typeof figures, number][];
    const sum = weights.reduce((total, [name, weight]) => total + weight * figures[name], 0);
    return 1 / (1 + Math.exp(-sum));
  });
  return Math.min(MAX_CERTAINTY, Math.max(...chances));
}

/** How well the best hits fit a question, as figures. */
export type Evidence = NonNullable<ReturnType<typeof measureEvidence>>;

/** Measures how well hits fit a question; undefined without hits. `similarity` is that of the first one. */
export function measureEvidence(
  { question, found, ranked, context }: Searched,
  hits: readonly RankedChunk[],
  similarity: number | null,
) {
  const [first] = hits;
  if (!first) return undefined;
  const scope = findScopeKind(found.turns, context);
  const query = parseQuery(question, context);
  const { terms, speakers, isName } = query;
  const weights = terms.map((term) => computeWeight(term, context.statistics));
  const shareOf = (matches: readonly number[], isOf: (place: number) => boolean = () => true): number => {
    let [all, own] = [0, 0];
    for (const [place, match] of matches.entries()) {
      if (!isOf(place)) continue;
      all += weights[place] as number;
      own += match * (weights[place] as number);
    }
    return all > 0 ? own / all : 0;
  };
  const rarest = Math.log(1 + 2 * Math.max(MIN_CHUNKS, context.statistics.chunks));
  const asked = new Set(terms);
  const matchesOf = (chunks: readonly StoredChunk[]): number[] => {
    const present = new Set(chunks.flatMap((chunk) => chunk.terms.filter((term) => asked.has(term))));
    return terms.map((term) => (present.has(term) ? 1 : 0));
  };
  const share = (...chunks: readonly StoredChunk[]) => shareOf(matchesOf(chunks));
  // A caller may want few hits; the candidates after them show how far these stand out.
  const shown = new Set(hits);
  const all = [...hits, ...ranked.slice(ranked.findLastIndex((one) => shown.has(one)) + 1)];
  const compared = all.slice(0, COMPARED_HITS);
  const { source, turn, traits } = first.chunk;
  const inSession = compared.map(({ chunk }) => chunk).filter((chunk) => chunk.source === source);
  const around = inSession.filter((chunk) => Math.abs(chunk.turn - turn) <= AROUND_TURNS);
  const best = all.slice(0, BEST_HITS).map(({ chunk }) => chunk);
  let [inside, outside] = [0, 0];
  // Only agents' work needs them, and there are hundreds of candidates.
  for (const chunk of scope === "work" ? found.chunks.values() : []) {
    if (chunk.source === source) inside = Math.max(inside, share(chunk));
    else outside = Math.max(outside, share(chunk));
  }
  const named = speakers.length === 1 ? all.slice(0, SPEAKER_HITS) : [];
  const isBy = ({ chunk }: RankedChunk) => chunk.speaker !== null && foldText(chunk.speaker) === speakers[0];
  const [own, others] = [named.filter(isBy), named.filter((one) => !isBy(one))];
  // Next to files, scores are shares of the best one; their parts are not.
  const total = Object.values(first.parts).reduce((sum, part) => sum + part, 0);
  const scale = found.files.length > 0 && first.score > 0 ? total / first.score : 1;
  const netOf = (some: readonly RankedChunk[]) =>
    some.reduce((most, { score, parts }) => Math.max(most, scale * score - (parts.speaker ?? 0)), 0);
  const ahead = (netOf(own) - netOf(others)) / SCORE_SCALE;
  const texts = found.byText.slice(0, COMPARED_HITS).map(({ score }) => score);
  const closeness = matchesAround(terms, around, context);
  const { wants } = query.intent;
  const isEdit = (traits & EVIDENCE.edit) !== 0;
  const kind: CertaintyKind =
    scope !== "work" ? scope : wants === "either" ? (isEdit ? "work" : "words") : wants;
  const figures = {
    constant: 1,
    first: share(first.chunk),
    /** Related words count by their cosine. */
    around: shareOf(closeness.map((cosine) => (cosine >= MIN_COSINE ? cosine : 0))),
    session: share(...inSession),
    inside,
    lead: inside - outside,
    names: isName.includes(true) ? shareOf(matchesOf(best), (place) => isName[place] === true) : 1,
    worst: findWorstMatch(query, best, context) ?? share(...best),
    similarity: Math.max(0, similarity ?? share(first.chunk)),
    score: (scale * first.score) / SCORE_SCALE,
    gap: (scale * (first.score - (compared.at(-1)?.score ?? 0))) / SCORE_SCALE,
    work: Math.min(1, (first.parts.work ?? 0) / SCORE_SCALE),
    /** How far the best of the person whom the question names is ahead of all others, or behind them. */
    speaker: Math.max(0, ahead),
    stranger: Math.max(0, -ahead),
    others: others.reduce((most, { chunk }) => Math.max(most, share(chunk)), 0),
    decision: (traits & EVIDENCE.decision) === 0 ? 0 : 1,
    /** "Run the tests" fits many places; a few rare words fit one. */
    rarity: Math.min(1, weights.reduce((sum, weight) => sum + weight, 0) / (ENOUGH_RARE_WORDS * rarest)),
    textGap: texts[0] ? 1 - (texts.at(-1) ?? 0) / texts[0] : 0,
    near: inSession.filter((chunk) => Math.abs(chunk.turn - turn) <= PIECE_TURNS).length / compared.length,
  };
  return { kind, figures };
}

/** For each term the closest one of the chunks, as a cosine. */
function matchesAround(
  terms: readonly string[],
  chunks: readonly StoredChunk[],
  { vectors }: Pick<RankContext, "vectors">,
): number[] {
  const present = new Set(chunks.flatMap((chunk) => chunk.terms));
  return terms.map((term) => {
    if (present.has(term)) return 1;
    const own = vectors?.vectorOf(term);
    let closest = 0;
    if (own)
      for (const other of present) {
        const vector = vectors?.vectorOf(other);
        if (vector) closest = Math.max(closest, computeDotProduct(own.values, vector.values));
      }
    return closest;
  });
}

/**
 * The worst match among the question's rarest words. Undefined without words, because pairs of East Asian characters may
 * span two words, and without their vectors, because an answer may use another word.
 */
function findWorstMatch(
  { terms }: Query,
  chunks: readonly StoredChunk[],
  context: RankContext,
): number | undefined {
  const words = terms.filter((term) => !EAST_ASIAN.test(term));
  if (words.length === 0 || !context.vectors) return undefined;
  const weightOf = new Map(words.map((term) => [term, computeWeight(term, context.statistics)]));
  const rarest = words
    .sort((left, right) => (weightOf.get(right) ?? 0) - (weightOf.get(left) ?? 0))
    .slice(0, RAREST_WORDS);
  return Math.min(...matchesAround(rarest, chunks, context));
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
