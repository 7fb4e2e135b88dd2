import { type Feature, RANK_FEATURES } from "../../../src/memory/rank/feature-list.ts";
import type { Example } from "./training-set.ts";

/** Features whose weight may differ between conversations of people and those with an assistant. */
const APART: readonly Feature[] = [
  "session",
  "sessionTop",
  "before",
  "length",
  "similarity",
  "soft",
  "time",
  "eventAsked",
  "numberAsked",
];
/** Differences are penalized more than common weights, so that weights are shared where possible. */
const APART_SCALE = 0.7;
const MAY_BE_NEGATIVE: ReadonlySet<Feature> = new Set(["code", "length"]);
const SIZE = RANK_FEATURES.length + APART.length;
const APART_COLUMNS = APART.map((feature) => RANK_FEATURES.indexOf(feature));

/** Weight of each data set, independent of its number of questions. */
export const SET_WEIGHTS: Readonly<Record<string, number>> = { longmemeval: 2, locomo: 1, "beam-100K": 1 };

const STEPS = 200;
const RATE = 0.05;
const DECAY = 1e-3;

/** Weights by feature for each form of conversation. */
export interface FittedWeights {
  readonly assistant: Readonly<Record<Feature, number>>;
  readonly people: Readonly<Record<Feature, number>>;
}

/**
 * One question's sample, row by row: its features, then, for a conversation between people, a second copy of the
 * features that may differ.
 */
interface Prepared {
  readonly values: Float64Array;
  readonly rows: number;
  readonly width: number;
  /** The first rows are the answers. */
  readonly gold: number;
  readonly share: number;
}

/** Maximizes the likelihood of answers: softmax over each question's sample, optimized by Adam with weight decay. */
export function fitWeights(examples: readonly Example[]): FittedWeights {
  const counts = new Map<string, number>();
  for (const { set } of examples) counts.set(set, (counts.get(set) ?? 0) + 1);
  const total = [...counts.keys()].reduce((sum, set) => sum + (SET_WEIGHTS[set] ?? 1), 0);
  const prepared = examples.map((example) =>
    prepare(example, (SET_WEIGHTS[example.set] ?? 1) / total / (counts.get(example.set) ?? 1)),
  );
  const weights = new Float64Array(SIZE);
  const [mean, square, gradient] = [new Float64Array(SIZE), new Float64Array(SIZE), new Float64Array(SIZE)];
  for (let step = 1; step <= STEPS; step++) {
    for (let axis = 0; axis < SIZE; axis++) gradient[axis] = DECAY * (weights[axis] as number);
    for (const one of prepared) addGradient(gradient, weights, one);
    for (let axis = 0; axis < SIZE; axis++) {
      const slope = gradient[axis] as number;
      mean[axis] = 0.9 * (mean[axis] as number) + 0.1 * slope;
      square[axis] = 0.999 * (square[axis] as number) + 0.001 * slope * slope;
      const rate = (mean[axis] as number) / (1 - 0.9 ** step);
      const spread = Math.sqrt((square[axis] as number) / (1 - 0.999 ** step)) + 1e-9;
      const moved = (weights[axis] as number) - (RATE * rate) / spread;
      weights[axis] = mayBeNegative(axis) ? moved : Math.max(0, moved);
    }
  }
  return { assistant: named(weights, false), people: named(weights, true) };
}

function prepare(example: Example, share: number): Prepared {
  const width = example.isPeople ? SIZE : RANK_FEATURES.length;
  const values = new Float64Array(example.sample.length * width);
  for (const [place, row] of example.sample.entries()) {
    for (let axis = 0; axis < width; axis++) {
      const isApart = axis >= RANK_FEATURES.length;
      const column = isApart ? (APART_COLUMNS[axis - RANK_FEATURES.length] as number) : axis;
      const value = example.values[row * RANK_FEATURES.length + column] as number;
      values[place * width + axis] = isApart ? APART_SCALE * value : value;
    }
  }
  return { values, rows: example.sample.length, width, gold: example.gold.length, share };
}

function mayBeNegative(axis: number): boolean {
  return axis >= RANK_FEATURES.length || MAY_BE_NEGATIVE.has(RANK_FEATURES[axis] as Feature);
}

const chances = new Float64Array(10_000);

function addGradient(gradient: Float64Array, weights: Float64Array, prepared: Prepared): void {
  const { values, rows, width, gold, share } = prepared;
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    let score = 0;
    for (let axis = 0, at = row * width; axis < width; axis++, at++) {
      score += (weights[axis] as number) * (values[at] as number);
    }
    chances[row] = score;
    if (score > most) most = score;
  }
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    chances[row] = Math.exp((chances[row] as number) - most);
    sum += chances[row] as number;
  }
  for (let row = 0; row < rows; row++) {
    const pull = share * ((chances[row] as number) / sum - (row < gold ? 1 / gold : 0));
    for (let axis = 0, at = row * width; axis < width; axis++, at++) {
      gradient[axis] = (gradient[axis] as number) + pull * (values[at] as number);
    }
  }
}

function named(weights: Float64Array, isPeople: boolean): Record<Feature, number> {
  const entries = RANK_FEATURES.map((feature, axis) => {
    const place = APART.indexOf(feature);
    const apart =
      isPeople && place >= 0 ? APART_SCALE * (weights[RANK_FEATURES.length + place] as number) : 0;
    return [feature, Number(((weights[axis] as number) + apart).toFixed(2))];
  });
  return Object.fromEntries(entries) as Record<Feature, number>;
}
