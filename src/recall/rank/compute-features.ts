import { foldText } from "../../model/sentences.ts";
import { TRAIT } from "../text/traits.ts";
import {
  computeOwnScore,
  createFeatureColumns,
  type FeatureColumns,
  type FeatureTable,
  scaleToOne,
} from "./feature-list.ts";
import type { Query } from "./query.ts";
import { createSoftMatcher } from "./soft-match.ts";
import { computeOkapi, createTermMatcher, type TermMatch } from "./term-match.ts";
import { scoreTimeMatch } from "./time-window.ts";
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

/** Number of turns, closest in word score, whose mean similarity is expected of a turn without a vector. */
const COMPARED = 10;

/**
 * Fills in the similarity of turns without a vector, so that an incomplete index ranks them like others with the same
 * words, not after them. Fewer known similarities say less, so missing ones count as 0. `similarities` holds NaN for
 * turns without a vector; if no turn has one, all become 0.
 */
export function fillMissingSimilarities(similarities: Float64Array, wordScores: Float64Array): void {
  const known: number[] = [];
  const missing: number[] = [];
  for (const [index, similarity] of similarities.entries())
    (Number.isNaN(similarity) ? missing : known).push(index);
  for (const index of missing) {
    const score = wordScores[index] as number;
    const distanceOf = (other: number) => Math.abs((wordScores[other] as number) - score);
    const closest = [...known]
      .sort((left, right) => distanceOf(left) - distanceOf(right) || left - right)
      .slice(0, COMPARED);
    const sum = closest.reduce((total, other) => total + (similarities[other] as number), 0);
    similarities[index] = sum / COMPARED;
  }
}

/** Fills the features that depend on the author, the time and the traits of a candidate. */
function fillKindFeatures(
  features: FeatureColumns,
  index: number,
  candidate: TurnCandidate,
  { intent, speakers, windows }: Query,
): void {
  const traits = candidate.chunks.reduce((bits, chunk) => bits | chunk.traits, 0);
  const has = (bit: number, when = true) => (when && (traits & bit) !== 0 ? 1 : 0);
  const isNamed = candidate.speaker !== null;
  // A question that names a person is not about the user.
  const isUser = candidate.author === "user" && !isNamed && speakers.length === 0;
  const wantsUser = isUser && !intent.aboutAssistant;
  features.speaker[index] = scoreSpeaker(candidate.speaker, speakers);
  features.userTurn[index] = wantsUser && !intent.recap ? 1 : 0;
  features.userAsked[index] = wantsUser && intent.aboutUser && !intent.recap ? 1 : 0;
  features.assistantAsked[index] =
    intent.aboutAssistant && candidate.author === "assistant" && !isNamed ? 1 : 0;
  features.time[index] =
    candidate.atMs === null || windows.length === 0 ? 0 : scoreTimeMatch(windows, candidate.atMs);
  features.numberAsked[index] = has(TRAIT.number, intent.number);
  features.moneyAsked[index] = has(TRAIT.money, intent.money);
  features.timeAsked[index] = has(TRAIT.time, intent.time);
  features.nameAsked[index] = has(TRAIT.name, intent.name);
  features.eventAsked[index] = has(TRAIT.event, intent.past && !intent.aboutAssistant);
  features.personal[index] = has(TRAIT.personal, wantsUser);
  features.rule[index] = has(TRAIT.rule, isUser && !intent.survey);
  features.ruleRequested[index] = has(TRAIT.rule, isUser && intent.request);
  features.preferenceRequested[index] = has(TRAIT.preference, isUser && intent.request);
  features.asking[index] = has(TRAIT.question);
  features.code[index] = has(TRAIT.code);
  // Long turns mention everything; but replies of an assistant, and material for a summary, are in long turns.
  features.length[index] = intent.aboutAssistant || intent.recap ? 0 : Math.log1p(candidate.length) / 5;
}

/** A question that names one speaker is about that speaker's turns; one that names several or none is neutral. */
function scoreSpeaker(speaker: string | null, named: readonly string[]): number {
  if (speaker === null) return 0;
  if (named.length !== 1) return 0.5;
  return foldText(speaker) === named[0] ? 1 : 0;
}

/** Neighbors matter most for a short turn; at this many terms, half as much. */
const SHORT_TURN = 18;
const SESSION_SHAPE = { saturation: 1.5, lengthShare: 0.75 };
/** An answer says less by itself the shorter it is; at this many terms, the question before it counts half as much. */
const SHORT_ANSWER = 30;
/** The turns whose words are the context of a turn, to which its "it" and "there" refer. */
const CONTEXT = [-2, -1, 1];
/** More than the turns of any session, so that session and position form one number. */
const MAX_POSITIONS = 2 ** 26;

/** Scores a session by the words of all its candidates together and by its three best candidates. */
function fillSessionFeatures(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  query: Query,
  { statistics }: RankContext,
): void {
  const members = new Map<number, number[]>();
  for (const [index, { session }] of candidates.entries()) {
    const list = members.get(session);
    if (list) list.push(index);
    else members.set(session, [index]);
  }
  if (members.size < 2) return;
  const size = query.rarities.length;
  const total = new Float64Array(size);
  for (const [session, indexes] of members) {
    const length = statistics.sessionLengthOf(session) / statistics.averageSessionLength;
    let words = 0;
    total.fill(0);
    for (const index of indexes) {
      const counts = matches[index]?.counts;
      if (counts)
        for (let place = 0; place < size; place++)
          total[place] = (total[place] as number) + (counts[place] as number);
    }
    for (let place = 0; place < size; place++) {
      const count = total[place] as number;
      if (count > 0) words += (query.rarities[place] as number) * computeOkapi(count, length, SESSION_SHAPE);
    }
    const best = indexes.map((index) => computeOwnScore(features, index)).sort((left, right) => right - left);
    const top = (best[0] ?? 0) + (best[1] ?? 0) + (best[2] ?? 0);
    for (const index of indexes) {
      features.session[index] = words;
      features.sessionTop[index] = top;
    }
  }
  scaleToOne(features.session);
  scaleToOne(features.sessionTop);
}

/**
 * Scores neighbors: a question supports the short answer after it, in an exchange each side counts for the other, and
 * words of the question that only the turns around contain count as context.
 */
function fillNeighborFeatures(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  { rarities }: Query,
): void {
  const keyOf = (session: number, position: number) => session * MAX_POSITIONS + position;
  const places = new Map(candidates.map(({ session, position }, index) => [keyOf(session, position), index]));
  const weight = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1;
  for (const [index, { session, position, length, author, speaker }] of candidates.entries()) {
    const findTurn = (distance: number): number | undefined =>
      position + distance < 0 ? undefined : places.get(keyOf(session, position + distance));
    const scoreOf = (turn: number | undefined) => (turn === undefined ? 0 : computeOwnScore(features, turn));
    const previous = findTurn(-1);
    const before = scoreOf(previous);
    features.before[index] = (SHORT_TURN / (SHORT_TURN + length)) * before;
    features.partner[index] =
      speaker !== null ? 0 : author === "user" ? scoreOf(findTurn(1)) : author === "assistant" ? before : 0;
    if (previous !== undefined && features.asking[previous] === 1)
      features.answer[index] = (SHORT_ANSWER / (SHORT_ANSWER + length)) * before;
    const around = CONTEXT.flatMap((distance) => matches[findTurn(distance) ?? -1]?.counts ?? []);
    const own = matches[index]?.counts;
    if (around.length === 0 || !own) continue;
    let added = 0;
    for (let place = 0; place < rarities.length; place++) {
      if (own[place] !== 0) continue;
      for (const counts of around) {
        if (counts[place] === 0) continue;
        added += rarities[place] as number;
        break;
      }
    }
    features.context[index] = added / weight;
  }
}
