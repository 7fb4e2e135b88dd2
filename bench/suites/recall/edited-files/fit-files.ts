import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  computeFileFeatures,
  FILE_FEATURES,
  FILE_PART_OF,
  type FileScorePart,
} from "../../../../src/recall/rank/file-features.ts";
import type { FileTouch } from "../../../../src/recall/rank/file-touches.ts";
import { loadEmbedding } from "../load-embedding.ts";
import { readSweBench } from "../swe-bench.ts";
import { FileCandidates } from "./file-candidates.ts";
import { type FileExample, type FileWeights, fitFileWeights, rankFirst } from "./fit-file-weights.ts";
import { MIN_FILES, toTouch } from "./index.ts";
import { readProjects } from "./read-projects.ts";

/** Fits the weights of `src/recall/rank/rank-files.ts` and prints their scores on sessions not used to fit them. */
const FOLDS = 5;
const folder = process.env.LONGHAUL_DATA ?? join(import.meta.dirname, "../../../../../shared/data");
const analyzed = new FileCandidates(loadEmbedding());

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function buildExample(
  { set, group, text }: { set: string; group: string; text: string },
  files: readonly { readonly path: string; readonly text: string }[],
  isGold: (path: string) => boolean,
  touches: readonly FileTouch[],
): FileExample {
  const { candidates, statistics } = analyzed.build(text, files);
  const features = computeFileFeatures(text, candidates, { statistics, touches });
  return {
    set,
    group,
    rows: files.length,
    values: Float32Array.from(features.flatMap(({ values }) => FILE_FEATURES.map((name) => values[name]))),
    isGold: Uint8Array.from(files, ({ path }) => (isGold(path) ? 1 : 0)),
  };
}

async function buildExamples(): Promise<FileExample[]> {
  const examples: FileExample[] = [];
  for (const { repository, text, files, gold } of readSweBench(join(folder, "swebench-files"))) {
    const paths = new Set(gold.map((id) => files[id]?.path));
    examples.push(
      buildExample({ set: "swe-bench", group: repository, text }, files, (path) => paths.has(path), []),
    );
    analyzed.clear();
  }
  const place = mkdtempSync(join(tmpdir(), "fit-files-"));
  for (const project of await readProjects(join(folder, "transcripts"), place)) {
    const { files: versions, touches, questions } = project.end();
    for (const { kind, session, text, askedAtMs, gold } of questions) {
      const files = [...versions.listAt(askedAtMs)].map(([path, own]) => ({ path, text: own }));
      if (files.length < MIN_FILES) continue;
      const past = touches.filter(({ atMs }) => atMs <= askedAtMs).map(toTouch);
      const set = `${project.name} ${kind}`;
      examples.push(
        buildExample({ set, group: session, text }, files, (path) => gold.includes(path), past.reverse()),
      );
    }
    analyzed.clear();
  }
  rmSync(place, { recursive: true, force: true });
  return examples;
}

function report(title: string, ranks: readonly { readonly set: string; readonly rank: number }[]): void {
  const show = (name: string, own: typeof ranks) => {
    const share = (count: number) => (own.filter(({ rank }) => rank <= count).length / own.length).toFixed(3);
    print(`${title}  ${name.padEnd(32)} n=${own.length}  @1 ${share(1)}  @5 ${share(5)}  @10 ${share(10)}`);
  };
  const tasks = ranks.filter(({ set }) => set !== "swe-bench");
  show("all tasks", tasks);
  for (const [kind, own] of Map.groupBy(tasks, ({ set }) => set.split(" ")[1] ?? "")) show(kind, own);
  for (const [project, own] of Map.groupBy(ranks, ({ set }) => set.split(" ")[0] ?? "")) show(project, own);
}

const examples = await buildExamples();
const groups = [...new Set(examples.map(({ group }) => group))].sort();
const foldOf = ({ group }: FileExample) => groups.indexOf(group) % FOLDS;

function reportFolds(title: string, kept: readonly FileExample[]): void {
  const fitted = Array.from({ length: FOLDS }, (_, fold) =>
    fitFileWeights(kept.filter((example) => foldOf(example) !== fold)),
  );
  report(
    title,
    kept.map((example) => {
      return { set: example.set, rank: rankFirst(example, fitted[foldOf(example)] as FileWeights) };
    }),
  );
}

/** The examples without the features of a part. */
function without(part: FileScorePart): FileExample[] {
  return examples.map((example) => {
    const values = example.values.map((value, at) => {
      const feature = FILE_FEATURES[at % FILE_FEATURES.length];
      return feature && FILE_PART_OF[feature] === part ? 0 : value;
    });
    return { ...example, values };
  });
}

reportFolds("held out     ", examples);
if (process.argv.includes("--ablations"))
  for (const part of ["words", "definitions", "path", "meaning", "kind", "history"] as const)
    reportFolds(`without ${part}`, without(part));
const weights = fitFileWeights(examples);
report(
  "fitted on all",
  examples.map((example) => ({ set: example.set, rank: rankFirst(example, weights) })),
);
print(JSON.stringify(weights, null, 2));
