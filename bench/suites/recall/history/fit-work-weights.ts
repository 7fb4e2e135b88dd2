import { type Feature, RANK_FEATURES } from "../../../../src/recall/rank/feature-list.ts";
import { FEATURE_WEIGHTS } from "../../../../src/recall/rank/feature-weights.ts";
import type { WorkExample } from "./work-examples.ts";

/** Weights by feature. */
export type Weights = Readonly<Record<Feature, number>>;

/** Features that commits, plans and reports do not exercise keep the weights of conversations. */
const FIXED: ReadonlySet<Feature> = new Set([
  "speaker",
  "userAsked",
  "assistantAsked",
  "time",
  "numberAsked",
  "moneyAsked",
  "timeAsked",
  "nameAsked",
  "eventAsked",
  "rule",
  "ruleRequested",
  "preferenceRequested",
]);
/**
 * The question's words count at least as much as in conversations. Without this bound, the fit prefers short results
 * next to the work ("file updated"), which lie in the right stretch and say nothing.
 */
const AT_LEAST_AS_BEFORE: ReadonlySet<Feature> = new Set([
  "whole",
  "chunk",
  "coverage",
  "chunkCoverage",
  "nearness",
  "soft",
  "similarity",
]);
const NOT_NEGATIVE: ReadonlySet<Feature> = new Set([
  "names",
  "session",
  "sessionTop",
  "before",
  "partner",
  "earlierWork",
  "laterWork",
  "planned",
  "committed",
]);
const NOT_POSITIVE: ReadonlySet<Feature> = new Set(["output", "mark"]);
const MIN_LENGTH = -1.3;
/** Weight of each agent, independent of its number of questions. */
const FORMAT_WEIGHTS: Readonly<Record<string, number>> = {
  "claude-code": 1,
  codex: 0.4,
  pi: 0.3,
  opencode: 0.15,
};

const STEPS = 400;
const RATE = 0.05;
const DECAY = 3e-3;

/**
 * Maximizes the likelihood that any answer comes first, by Adam; weights are drawn towards those of conversations with
 * an assistant.
 */
export function fitWorkWeights(examples: readonly WorkExample[]): Weights {
  const size = RANK_FEATURES.length;
  const base = RANK_FEATURES.map((feature) => FEATURE_WEIGHTS.assistant[feature] ?? 0);
  const bounds = RANK_FEATURES.map((feature, axis) => boundsOf(feature, base[axis] as number));
  const weights = Float64Array.from(base, (value, axis) => clamp(value, bounds[axis] as Bounds));
  const counts = new Map<string, number>();
  for (const { set } of examples) counts.set(set, (counts.get(set) ?? 0) + 1);
  const shareOf = ({ set }: WorkExample) =>
    (FORMAT_WEIGHTS[set.split(" ")[0] ?? ""] ?? 0.15) / (counts.get(set) ?? 1);
  const used = examples.filter(({ gold }) => gold.length > 0);
  const total = used.reduce((sum, example) => sum + shareOf(example), 0);
  const [mean, square] = [new Float64Array(size), new Float64Array(size)];
  for (let step = 1; step <= STEPS; step++) {
    const gradient = Float64Array.from(weights, (weight, axis) => DECAY * (weight - (base[axis] as number)));
    for (const example of used) addGradient(gradient, weights, example, shareOf(example) / total);
    for (let axis = 0; axis < size; axis++) {
      const slope = gradient[axis] as number;
      mean[axis] = 0.9 * (mean[axis] as number) + 0.1 * slope;
      square[axis] = 0.999 * (square[axis] as number) + 0.001 * slope * slope;
      const spread = Math.sqrt((square[axis] as number) / (1 - 0.999 ** step)) + 1e-9;
      const moved = (weights[axis] as number) - (RATE * (mean[axis] as number)) / (1 - 0.9 ** step) / spread;
      weights[axis] = clamp(moved, bounds[axis] as Bounds);
    }
  }
  return Object.fromEntries(
    RANK_FEATURES.map((feature, axis) => [feature, Number((weights[axis] as number).toFixed(2))]),
  ) as Weights;
}

type Bounds = readonly [min: number, max: number];

function boundsOf(feature: Feature, before: number): Bounds {
  if (FIXED.has(feature)) return [before, before];
  if (AT_LEAST_AS_BEFORE.has(feature)) return [before, Number.POSITIVE_INFINITY];
  if (NOT_NEGATIVE.has(feature)) return [0, Number.POSITIVE_INFINITY];
  if (NOT_POSITIVE.has(feature)) return [Number.NEGATIVE_INFINITY, 0];
  return [feature === "length" ? MIN_LENGTH : Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
}

function clamp(value: number, [min, max]: Bounds): number {
  return Math.min(max, Math.max(min, value));
}

function addGradient(
  gradient: Float64Array,
  weights: Float64Array,
  { rows, values, gold }: WorkExample,
  share: number,
): void {
  const width = weights.length;
  const chances = new Float64Array(rows);
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    let score = 0;
    for (let axis = 0; axis < width; axis++)
      score += (weights[axis] as number) * (values[row * width + axis] as number);
    chances[row] = score;
    most = Math.max(most, score);
  }
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    chances[row] = Math.exp((chances[row] as number) - most);
    sum += chances[row] as number;
  }
  const answers = new Set(gold);
  let found = 1e-300;
  for (const row of gold) found += chances[row] as number;
  for (let row = 0; row < rows; row++) {
    const chance = chances[row] as number;
    const pull = share * (chance / sum - (answers.has(row) ? chance / found : 0));
    if (pull === 0) continue;
    for (let axis = 0; axis < width; axis++)
      gradient[axis] = (gradient[axis] as number) + pull * (values[row * width + axis] as number);
  }
}
