import { EVIDENCE } from "../text/evidence.ts";
import type { Query } from "./query.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

/** The match between a candidate's words and a question's. */
export interface TermMatch {
  /** Okapi score of the whole turn. */
  readonly whole: number;
  /** Okapi score of its best chunk. */
  readonly chunk: number;
  /** Share of the question's weight that the turn, and its best chunk, contain. */
  readonly coverage: number;
  readonly chunkCoverage: number;
  /** Score of words that are adjacent in the question and close together here. */
  readonly nearness: number;
  /** Share of the weight of the question's names that the turn contains. */
  readonly names: number;
  /** The share of the question's weight that each chunk contains, in the order of `Candidate.chunks`. */
  readonly coverages: readonly number[];
  /** Number of occurrences of each term, in the order of `Query.terms`. */
  readonly counts: Float64Array;
  /** Index of the best chunk in `Candidate.chunks`. */
  readonly best: number;
}

/** Long turns of an assistant mention everything, so length counts more for whole turns than for chunks. */
const WHOLE = { saturation: 1.5, lengthShare: 0.9 };
const CHUNK = { saturation: 1.5, lengthShare: 0.5 };
const NEAR = 4;
const STEP = EVIDENCE.reasoning | EVIDENCE.call;
const STEP_FIT = 0.7;
const DECISION_FIT = 1.3;

/** Okapi weight of a term that occurs `count` times in a text of relative length `length`. */
export function computeOkapi(
  count: number,
  length: number,
  { saturation, lengthShare }: { readonly saturation: number; readonly lengthShare: number },
): number {
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthShare + lengthShare * length));
}

/** Creates a function that matches one candidate at a time, without a table of all terms. */
export function createTermMatcher(
  query: Query,
  { statistics }: RankContext,
): (candidate: TurnCandidate) => TermMatch {
  const places = new Map(query.terms.map((term, place) => [term, place]));
  const { rarities, isName } = query;
  const size = rarities.length;
  const weight = sumValues(rarities) || 1;
  const nameWeight = sumValues(rarities.filter((_, place) => isName[place]));
  const counts = new Float64Array(size);
  const wants = query.intent.wants;
  /** A turn often thinks, says and does the same; a question for words wants to see the sentence that says it. */
  const fitOf = (traits: number): number => {
    if (wants !== "work" && (traits & STEP) !== 0) return STEP_FIT;
    return wants === "words" && (traits & EVIDENCE.decision) !== 0 ? DECISION_FIT : 1;
  };

  const scoreOf = (values: Float64Array, length: number, shape: typeof WHOLE): number => {
    let score = 0;
    for (let place = 0; place < size; place++) {
      const count = values[place] as number;
      if (count > 0) score += (rarities[place] as number) * computeOkapi(count, length, shape);
    }
    return score;
  };
  const weightOf = (values: Float64Array, onlyNames: boolean): number => {
    let found = 0;
    for (let place = 0; place < size; place++) {
      if ((values[place] as number) > 0 && (!onlyNames || isName[place])) found += rarities[place] as number;
    }
    return found;
  };

  return ({ chunks, length }) => {
    const total = new Float64Array(size);
    let chunk = 0;
    const coverages = chunks.map(() => 0);
    let nearness = 0;
    let shown = 0;
    let best = 0;
    for (let index = 0; index < chunks.length; index++) {
      const { terms, traits } = chunks[index] as (typeof chunks)[number];
      counts.fill(0);
      const seen: number[] = [];
      for (let at = 0; at < terms.length; at++) {
        const place = places.get(terms[at] as string);
        if (place === undefined) continue;
        counts[place] = (counts[place] as number) + 1;
        seen.push(place, at);
      }
      if (seen.length === 0) continue;
      for (let place = 0; place < size; place++)
        total[place] = (total[place] as number) + (counts[place] as number);
      const score = scoreOf(counts, terms.length / statistics.averageChunkLength, CHUNK);
      chunk = Math.max(chunk, score);
      if (score * fitOf(traits) > shown) {
        shown = score * fitOf(traits);
        best = index;
      }
      coverages[index] = weightOf(counts, false) / weight;
      nearness = Math.max(nearness, computeNearness(seen, rarities));
    }
    return {
      whole: scoreOf(total, length / statistics.averageLength, WHOLE),
      chunk,
      coverage: weightOf(total, false) / weight,
      chunkCoverage: Math.max(0, ...coverages),
      nearness,
      names: nameWeight > 0 ? weightOf(total, true) / nameWeight : 0,
      coverages,
      counts: total,
      best,
    };
  };
}

/** `seen` holds pairs: the index of a question term, and its position in the chunk. */
function computeNearness(seen: readonly number[], rarities: readonly number[]): number {
  const closest = new Map<number, number>();
  for (let left = 0; left < seen.length; left += 2) {
    for (let right = left + 2; right < seen.length; right += 2) {
      const distance = (seen[right + 1] as number) - (seen[left + 1] as number);
      if (distance > NEAR) break;
      const [a, b] = [seen[left] as number, seen[right] as number];
      if (Math.abs(a - b) !== 1) continue;
      const pair = Math.min(a, b);
      closest.set(pair, Math.min(closest.get(pair) ?? NEAR, Math.max(1, distance)));
    }
  }
  let score = 0;
  for (const [pair, distance] of closest) {
    score += ((rarities[pair] as number) + (rarities[pair + 1] as number)) / (2 * distance);
  }
  return score;
}

function sumValues(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
