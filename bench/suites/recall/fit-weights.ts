import { type Feature, RANK_FEATURES } from "../../../src/recall/rank/feature-list.ts";
import type { Example } from "./training-set.ts";

/** Features of agents' work, which conversations do not fit; `before` is replaced by `answer`. */
const LEFT_OUT: ReadonlySet<Feature> = new Set([
  "before",
  "edit",
  "prose",
  "thought",
  "output",
  "mark",
  "earlierWork",
  "laterWork",
  "planned",
  "committed",
]);
const FITTED = RANK_FEATURES.filter((feature) => !LEFT_OUT.has(feature));
const COLUMNS = FITTED.map((feature) => RANK_FEATURES.indexOf(feature));
/**
 * Conversations of people have the common weights and differences from them. Differences are penalized more, so that
 * weights are shared where possible.
 */
const APART_SCALE = 0.5;
const MAY_BE_NEGATIVE: ReadonlySet<Feature> = new Set(["asking", "code", "length", "repeat"]);
const SIZE = 2 * FITTED.length;

/** Weight of each data set, independent of its number of questions. */
export const SET_WEIGHTS: Readonly<Record<string, number>> = { longmemeval: 2, locomo: 1, "beam-100K": 1 };

const STEPS = 160;
const RATE = 0.1;
const DECAY = 1e-3;

/** Weights by feature for each form of conversation. */
export interface FittedWeights {
  readonly assistant: Readonly<Record<Feature, number>>;
  readonly people: Readonly<Record<Feature, number>>;
}

/** One question's candidates, row by row. */
interface Prepared {
  readonly values: Float64Array;
  readonly rows: number;
  readonly isGold: Uint8Array;
  readonly gold: number;
  readonly isPeople: boolean;
  readonly share: number;
}

/**
 * Maximizes the chance that each answer comes before every candidate that is none: a softmax of each answer and those
 * candidates, so that answers do not compete with each other. Optimized by Adam with weight decay.
 */
export function fitWeights(examples: readonly Example[]): FittedWeights {
  const counts = new Map<string, number>();
  for (const { set } of examples) counts.set(set, (counts.get(set) ?? 0) + 1);
  const total = [...counts.keys()].reduce((sum, set) => sum + (SET_WEIGHTS[set] ?? 1), 0);
  const prepared = examples
    .filter(({ gold }) => gold.length > 0)
    .map((example) =>
      prepare(example, (SET_WEIGHTS[example.set] ?? 1) / total / (counts.get(example.set) ?? 1)),
    );
  const weights = new Float64Array(SIZE);
  const [mean, square, gradient] = [new Float64Array(SIZE), new Float64Array(SIZE), new Float64Array(SIZE)];
  for (let step = 1; step <= STEPS; step++) {
    for (let axis = 0; axis < SIZE; axis++) gradient[axis] = DECAY * (weights[axis] as number);
    for (const one of prepared) addGradient(gradient, weights, one);
    const rate = step < 0.6 * STEPS ? RATE : 0.3 * RATE;
    for (let axis = 0; axis < SIZE; axis++) {
      const slope = gradient[axis] as number;
      mean[axis] = 0.9 * (mean[axis] as number) + 0.1 * slope;
      square[axis] = 0.99 * (square[axis] as number) + 0.01 * slope * slope;
      const direction = (mean[axis] as number) / (1 - 0.9 ** step);
      const spread = Math.sqrt((square[axis] as number) / (1 - 0.99 ** step)) + 1e-9;
      const moved = (weights[axis] as number) - (rate * direction) / spread;
      weights[axis] = mayBeNegative(axis) ? moved : Math.max(0, moved);
    }
  }
  return { assistant: toNamed(weights, false), people: toNamed(weights, true) };
}

function prepare(example: Example, share: number): Prepared {
  const width = FITTED.length;
  const values = new Float64Array(example.rows * width);
  for (let row = 0; row < example.rows; row++)
    for (const [axis, column] of COLUMNS.entries())
      values[row * width + axis] = example.values[row * RANK_FEATURES.length + column] as number;
  const isGold = new Uint8Array(example.rows);
  for (const row of example.gold) isGold[row] = 1;
  const { rows, gold, isPeople } = example;
  return { values, rows, isGold, gold: gold.length, isPeople, share };
}

function mayBeNegative(axis: number): boolean {
  return axis >= FITTED.length || MAY_BE_NEGATIVE.has(FITTED[axis] as Feature);
}

/** The weights of a form of conversation, in the order of `FITTED`. */
function combine(weights: Float64Array, isPeople: boolean): Float64Array {
  const combined = weights.slice(0, FITTED.length);
  if (isPeople)
    for (let axis = 0; axis < combined.length; axis++)
      combined[axis] = (combined[axis] as number) + APART_SCALE * (weights[FITTED.length + axis] as number);
  return combined;
}

function addGradient(gradient: Float64Array, weights: Float64Array, one: Prepared): void {
  const { values, rows, isGold, gold, isPeople, share } = one;
  const width = FITTED.length;
  const own = combine(weights, isPeople);
  const chances = new Float64Array(rows);
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    let score = 0;
    for (let axis = 0, at = row * width; axis < width; axis++, at++)
      score += (own[axis] as number) * (values[at] as number);
    chances[row] = score;
    if (score > most) most = score;
  }
  let others = 0;
  for (let row = 0; row < rows; row++) {
    chances[row] = Math.exp((chances[row] as number) - most);
    if (isGold[row] === 0) others += chances[row] as number;
  }
  let pressure = 0;
  for (let row = 0; row < rows; row++)
    if (isGold[row] === 1) pressure += 1 / gold / ((chances[row] as number) + others);
  for (let row = 0; row < rows; row++) {
    const chance = chances[row] as number;
    const pull = share * (isGold[row] === 1 ? -(others / (chance + others)) / gold : chance * pressure);
    for (let axis = 0, at = row * width; axis < width; axis++, at++) {
      const slope = pull * (values[at] as number);
      gradient[axis] = (gradient[axis] as number) + slope;
      if (isPeople) gradient[width + axis] = (gradient[width + axis] as number) + APART_SCALE * slope;
    }
  }
}

function toNamed(weights: Float64Array, isPeople: boolean): Record<Feature, number> {
  const combined = combine(weights, isPeople);
  const entries = RANK_FEATURES.map((feature) => {
    const axis = FITTED.indexOf(feature);
    return [feature, axis < 0 ? 0 : Number((combined[axis] as number).toFixed(2))];
  });
  return Object.fromEntries(entries) as Record<Feature, number>;
}
