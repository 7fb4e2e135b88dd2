import { EVIDENCE } from "../text/evidence.ts";
import { computeOwnScore, type FeatureColumns, scaleToOne } from "./feature-list.ts";
import type { TermMatch } from "./term-match.ts";
import type { TurnCandidate } from "./turn-candidate.ts";

/** Share of its support that a turn keeps for the next one, and a mark for each turn of its piece of work. */
const SUPPORT_DECAY = 0.9;
const MARK_DECAY = 0.98;
/** A mark names the work that was asked for if it contains more than this share of the question. */
const MIN_MARK = 0.5;

/** Minimum relevance of an edit in marked work, which often shares no word with the description of the work. */
const EDIT_RELEVANCE = 0.5;

/**
 * Fills the features of agents' work: the kind of evidence, support by the turns around, and marks, which say what the
 * work is: an item of a plan that is being worked on, or the commit at its end.
 */
export function fillWorkFeatures(
  features: FeatureColumns,
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  bestChunks: Int32Array,
): void {
  for (const [index, { author, chunks }] of candidates.entries()) {
    const bits = chunks[bestChunks[index] as number]?.traits ?? 0;
    const has = (bit: number) => ((bits & bit) !== 0 ? 1 : 0);
    features.edit[index] = has(EVIDENCE.edit);
    features.thought[index] = has(EVIDENCE.reasoning);
    features.mark[index] = has(EVIDENCE.plan | EVIDENCE.commit);
    features.output[index] = author === "tool" ? 1 : 0;
    features.decision[index] = has(EVIDENCE.decision);
    features.prose[index] = author === "assistant" && has(EVIDENCE.call | EVIDENCE.reasoning) === 0 ? 1 : 0;
  }
  const bySession = Map.groupBy(candidates.keys(), (index) => candidates[index]?.session ?? 0);
  for (const indexes of bySession.values()) {
    const inOrder = indexes.sort((a, b) => positionOf(candidates, a) - positionOf(candidates, b));
    fillSupport(features, "earlierWork", inOrder, candidates);
    fillMarked(features, "planned", inOrder, candidates, matches, EVIDENCE.active);
    for (const feature of ["requested", "repaired", "announced"] as const)
      fillLed(features, feature, inOrder, candidates, matches);
    inOrder.reverse();
    fillSupport(features, "laterWork", inOrder, candidates);
    fillMarked(features, "committed", inOrder, candidates, matches, EVIDENCE.commit);
  }
  for (const feature of ["earlierWork", "laterWork", "announced"] as const) scaleToOne(features[feature]);
}

/** Turns support the ones after them in `order`, less with distance; marks do not, since they retell other work. */
function fillSupport(
  features: FeatureColumns,
  feature: "earlierWork" | "laterWork",
  order: readonly number[],
  candidates: readonly TurnCandidate[],
): void {
  let support = 0;
  let last = 0;
  for (const index of order) {
    const position = positionOf(candidates, index);
    support *= SUPPORT_DECAY ** Math.abs(position - last);
    features[feature][index] = support * relevanceOf(features, index);
    if (features.mark[index] === 0) support += computeOwnScore(features, index) ** 2;
    last = position;
  }
}

/** A mark that names the question's work supports the turns after it in `order`, up to the next mark of its kind. */
function fillMarked(
  features: FeatureColumns,
  feature: "planned" | "committed",
  order: readonly number[],
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
  bit: number,
): void {
  let strength = 0;
  let last = 0;
  for (const index of order) {
    const position = positionOf(candidates, index);
    strength *= MARK_DECAY ** Math.abs(position - last);
    const least = features.edit[index] === 1 ? EDIT_RELEVANCE : 0;
    features[feature][index] = strength * Math.max(least, relevanceOf(features, index));
    const covered = findCovered(candidates[index], matches[index], (traits) => (traits & bit) !== 0);
    if (covered !== undefined) strength = Math.max(0, (covered - MIN_MARK) / (1 - MIN_MARK));
    last = position;
  }
}

/**
 * The texts that lead to edits: their author, the share of the question that they must repeat, and how much of their
 * strength remains one turn later.
 */
const LEADS = {
  requested: { author: "user", least: 0.7, decay: 0.995 },
  repaired: { author: "tool", least: 0.7, decay: 0.97 },
  announced: { author: "assistant", least: 0, decay: 0.8 },
} as const;

/**
 * A question that repeats a person's request, a line of output, or the agent's announcement of a step leads to the edits
 * after that text. The next request ends a request's edits; other texts that have nothing of the question do not.
 */
function fillLed(
  features: FeatureColumns,
  feature: keyof typeof LEADS,
  order: readonly number[],
  candidates: readonly TurnCandidate[],
  matches: readonly TermMatch[],
): void {
  const { author, least, decay } = LEADS[feature];
  let strength = 0;
  let last = 0;
  for (const index of order) {
    const candidate = candidates[index];
    const position = positionOf(candidates, index);
    strength *= decay ** Math.abs(position - last);
    last = position;
    if (candidate?.author === author) {
      const stated = findCovered(candidate, matches[index], (traits) => (traits & EVIDENCE.call) === 0) ?? 0;
      const covered = author === "user" ? (matches[index]?.coverage ?? 0) : stated;
      const own = Math.max(0, (covered - least) / (1 - least));
      strength = author === "user" ? own : Math.max(strength, own);
    }
    if (candidate?.chunks.some(({ traits }) => (traits & EVIDENCE.edit) !== 0))
      features[feature][index] = strength;
  }
}

/** The largest share of the question in a chunk with certain traits; undefined without such a chunk. */
function findCovered(
  candidate: TurnCandidate | undefined,
  match: TermMatch | undefined,
  isMeant: (traits: number) => boolean,
): number | undefined {
  let most: number | undefined;
  for (const [index, { traits }] of candidate?.chunks.entries() ?? [])
    if (isMeant(traits)) most = Math.max(most ?? 0, match?.coverages[index] ?? 0);
  return most;
}

/** Support counts as far as a turn itself has something of the question: a bare "done" does not answer it. */
function relevanceOf(features: FeatureColumns, index: number): number {
  return Math.min(1, 2 * (features.coverage[index] as number));
}

function positionOf(candidates: readonly TurnCandidate[], index: number): number {
  return candidates[index]?.position ?? 0;
}
