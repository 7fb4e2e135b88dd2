import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RANK_FEATURES } from "../../../../src/recall/rank/feature-list.ts";
import { fitWorkWeights, type Weights } from "./fit-work-weights.ts";
import { HISTORY_FORMATS, openHistory } from "./open-history.ts";
import { buildWorkExamples, type WorkExample } from "./work-examples.ts";

/** Fits the weights for agents' work and prints their scores on sessions that were not used to fit them. */
const FOLDS = 5;
const folder = process.env.LONGHAUL_DATA ?? join(import.meta.dirname, "../../../../../shared/data");

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function ranksOf(example: WorkExample, weights: Weights): { place: number; session: number } {
  const { rows, values, gold, sessions, group } = example;
  const scores = Array.from({ length: rows }, (_, row) =>
    RANK_FEATURES.reduce(
      (sum, feature, column) =>
        sum + weights[feature] * (values[row * RANK_FEATURES.length + column] as number),
      0,
    ),
  );
  const order = scores
    .map((_, row) => row)
    .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const answers = new Set(gold);
  const place = order.findIndex((row) => answers.has(row));
  const session = [...new Set(order.map((row) => sessions[row]))].indexOf(group);
  const rankOf = (found: number) => (found < 0 ? Number.POSITIVE_INFINITY : found + 1);
  return { place: rankOf(place), session: rankOf(session) };
}

function report(
  title: string,
  examples: readonly WorkExample[],
  weightsOf: (example: WorkExample) => Weights,
): void {
  for (const [set, own] of Map.groupBy(examples, (example) => example.set)) {
    const ranks = own.map((example) => ranksOf(example, weightsOf(example)));
    const share = (is: (one: (typeof ranks)[number]) => boolean) =>
      (ranks.filter(is).length / ranks.length).toFixed(3);
    const mrr = ranks.reduce((sum, { place }) => sum + 1 / place, 0) / ranks.length;
    print(
      `${title}  ${set.padEnd(28)} n=${ranks.length}  @1 ${share(({ place }) => place <= 1)}  @5 ${share(({ place }) => place <= 5)}  @10 ${share(({ place }) => place <= 10)}  MRR ${mrr.toFixed(3)}  session@1 ${share(({ session }) => session <= 1)}`,
    );
  }
}

const examples: WorkExample[] = [];
const place = mkdtempSync(join(tmpdir(), "fit-work-"));
for (const format of HISTORY_FORMATS) {
  if (!existsSync(join(folder, "transcripts", format))) continue;
  const { recall, questions } = await openHistory(join(folder, "transcripts"), format, place);
  for (const isStrict of [false, true])
    examples.push(...(await buildWorkExamples(recall, questions, format, isStrict)));
  await recall.close();
}
rmSync(place, { recursive: true, force: true });
// Failed tests are scored, but too few to fit on; `--with-repairs` shows the folds with them.
const isFitted = ({ set }: WorkExample) => !set.includes("repairs");
const groups = [...new Set(examples.map(({ group }) => group))].sort();
const foldOf = ({ group }: WorkExample) => groups.indexOf(group) % FOLDS;
function reportFolds(title: string, kept: readonly WorkExample[]): void {
  const fitted = Array.from({ length: FOLDS }, (_, fold) =>
    fitWorkWeights(kept.filter((example) => foldOf(example) !== fold)),
  );
  report(title, examples, (example) => fitted[foldOf(example)] as Weights);
}
reportFolds("held out     ", examples.filter(isFitted));
if (process.argv.includes("--with-repairs")) reportFolds("with repairs ", examples);
const weights = fitWorkWeights(examples.filter(isFitted));
report("fitted on all", examples, () => weights);
print(JSON.stringify(weights, null, 2));
