import { join } from "node:path";
import { RANK_FEATURES } from "../../../src/recall/rank/feature-list.ts";
import { readBeam } from "./beam.ts";
import { type FittedWeights, fitWeights } from "./fit-weights.ts";
import { loadEmbedding } from "./load-embedding.ts";
import { readLocomo } from "./locomo.ts";
import { readLongMemEval } from "./longmemeval.ts";
import { average, type Score, scoreOrder } from "./scores.ts";
import { buildExamples, type Example } from "./training-set.ts";

/** Fits the weights of `src/recall/rank/feature-weights.ts` and prints their cross-validated scores. */
const FOLDS = 5;
const folder = process.env.LONGHAUL_DATA ?? join(import.meta.dirname, "../../../../shared/data");

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Distributes the groups of a set round-robin, so that no scope is on both sides. */
function foldsOf(examples: readonly Example[]): number[] {
  const dealt = new Map<string, Map<string, number>>();
  return examples.map(({ set, group }) => {
    const groups = dealt.get(set) ?? new Map<string, number>();
    dealt.set(set, groups);
    if (!groups.has(group)) groups.set(group, groups.size % FOLDS);
    return groups.get(group) ?? 0;
  });
}

function orderOf(example: Example, { assistant, people }: FittedWeights): number[] {
  const weights = example.isPeople ? people : assistant;
  const scores = Array.from({ length: example.rows }, (_, row) =>
    RANK_FEATURES.reduce(
      (sum, feature, column) =>
        sum + weights[feature] * (example.values[row * RANK_FEATURES.length + column] as number),
      0,
    ),
  );
  return scores.map((_, row) => row).sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
}

/** Answers that are no candidates count as not found. */
function scoreExample(example: Example, weights: FittedWeights): Score {
  const missing = Array.from({ length: example.goldCount - example.gold.length }, (_, index) => -1 - index);
  return scoreOrder(orderOf(example, weights), [...example.gold, ...missing]);
}

function report(
  title: string,
  examples: readonly Example[],
  weightsOf: (index: number) => FittedWeights,
): void {
  const scored = examples.map((example, index) => ({
    set: example.set,
    score: scoreExample(example, weightsOf(index)),
  }));
  for (const set of new Set(scored.map((one) => one.set))) {
    const of = scored.filter((one) => one.set === set).map(({ score }) => score);
    const mean = (measure: "all5" | "all10" | "fraction5" | "fraction10") =>
      average(of.map((score) => score[measure])).toFixed(3);
    print(
      `${title}  ${set.padEnd(12)} n=${of.length}  all@5 ${mean("all5")}  all@10 ${mean("all10")}  R@5 ${mean("fraction5")}  R@10 ${mean("fraction10")}`,
    );
  }
}

const questions = [
  ...readLongMemEval(join(folder, "longmemeval-s")).questions,
  ...readLocomo(join(folder, "locomo")),
  ...readBeam(join(folder, "beam/100K"), "beam-100K"),
];
const examples = await buildExamples(questions, loadEmbedding());
const folds = foldsOf(examples);
const fitted = Array.from({ length: FOLDS }, (_, fold) =>
  fitWeights(examples.filter((_, index) => folds[index] !== fold)),
);
report("held out     ", examples, (index) => fitted[folds[index] as number] as FittedWeights);
const weights = fitWeights(examples);
report("fitted on all", examples, () => weights);
print(JSON.stringify(weights, null, 2));
