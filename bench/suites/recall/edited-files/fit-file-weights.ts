import { FILE_FEATURES, type FileFeature } from "../../../../src/recall/rank/file-features.ts";

/** A task for fitting: a row of features for each file. */
export interface FileExample {
  readonly set: string;
  /** Questions of one group are never on both sides of a fold. */
  readonly group: string;
  readonly rows: number;
  /** Row by row. */
  readonly values: Float32Array;
  /** 1 for files that were edited. */
  readonly isGold: Uint8Array;
}

/** Weights by feature. */
export type FileWeights = Readonly<Record<FileFeature, number>>;

/** Files that repeat others may lose; every other feature is evidence for a file. */
const MAY_BE_NEGATIVE: ReadonlySet<FileFeature> = new Set(["test", "document", "vendored", "setup"]);
/** Issues are long and have no history, so that they count more than their number. */
const SET_WEIGHTS: Readonly<Record<string, number>> = { "swe-bench": 4 };

const STEPS = 100;
const RATE = 0.1;
const DECAY = 1e-3;
const START = 0.5;

/**
 * Maximizes the likelihood that any edited file comes first, by Adam with weight decay. A set counts by the root of its
 * number of questions.
 */
export function fitFileWeights(examples: readonly FileExample[]): FileWeights {
  const size = FILE_FEATURES.length;
  const weights = new Float64Array(size).fill(START);
  const [mean, square] = [new Float64Array(size), new Float64Array(size)];
  const counts = new Map<string, number>();
  for (const { set } of examples) counts.set(set, (counts.get(set) ?? 0) + 1);
  const shareOf = ({ set }: FileExample) => (SET_WEIGHTS[set] ?? 1) / Math.sqrt(counts.get(set) ?? 1);
  const total = examples.reduce((sum, example) => sum + shareOf(example), 0);
  for (let step = 1; step <= STEPS; step++) {
    const gradient = weights.map((weight) => DECAY * weight);
    for (const example of examples) addGradient(gradient, weights, example, shareOf(example) / total);
    for (let axis = 0; axis < size; axis++) {
      const slope = gradient[axis] as number;
      mean[axis] = 0.9 * (mean[axis] as number) + 0.1 * slope;
      square[axis] = 0.999 * (square[axis] as number) + 0.001 * slope * slope;
      const spread = Math.sqrt((square[axis] as number) / (1 - 0.999 ** step)) + 1e-9;
      const moved = (weights[axis] as number) - (RATE * (mean[axis] as number)) / (1 - 0.9 ** step) / spread;
      const mayBeNegative = MAY_BE_NEGATIVE.has(FILE_FEATURES[axis] as FileFeature);
      weights[axis] = mayBeNegative ? moved : Math.max(0, moved);
    }
  }
  return Object.fromEntries(
    FILE_FEATURES.map((feature, axis) => [feature, Number((weights[axis] as number).toFixed(2))]),
  ) as FileWeights;
}

/** Rank of the first edited file, from 1. */
export function rankFirst({ rows, values, isGold }: FileExample, weights: FileWeights): number {
  const vector = FILE_FEATURES.map((feature) => weights[feature]);
  const scores = Array.from({ length: rows }, (_, row) =>
    vector.reduce((sum, weight, axis) => sum + weight * (values[row * vector.length + axis] as number), 0),
  );
  let best = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) if (isGold[row] === 1) best = Math.max(best, scores[row] as number);
  return 1 + scores.filter((score) => score > best).length;
}

function addGradient(
  gradient: Float64Array,
  weights: Float64Array,
  { rows, values, isGold }: FileExample,
  share: number,
): void {
  const width = weights.length;
  const chances = new Float64Array(rows);
  let most = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    let score = 0;
    for (let axis = 0, at = row * width; axis < width; axis++, at++)
      score += (weights[axis] as number) * (values[at] as number);
    chances[row] = score;
    most = Math.max(most, score);
  }
  let [sum, found] = [0, 1e-300];
  for (let row = 0; row < rows; row++) {
    const chance = Math.exp((chances[row] as number) - most);
    chances[row] = chance;
    sum += chance;
    if (isGold[row] === 1) found += chance;
  }
  for (let row = 0; row < rows; row++) {
    const chance = chances[row] as number;
    const pull = share * (chance / sum - (isGold[row] === 1 ? chance / found : 0));
    if (Math.abs(pull) < 1e-7) continue;
    for (let axis = 0, at = row * width; axis < width; axis++, at++)
      gradient[axis] = (gradient[axis] as number) + pull * (values[at] as number);
  }
}
