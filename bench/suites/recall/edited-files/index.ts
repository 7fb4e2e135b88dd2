import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { rankFiles } from "../../../../src/recall/rank/rank-files.ts";
import type { ChildTask } from "../../../child-job.ts";
import { type Goal, type Row, toRow } from "../../../result.ts";
import type { Measurement } from "../../../suite.ts";
import { findDataSet } from "../data-folder.ts";
import { loadEmbedding } from "../load-embedding.ts";
import { createPlainRanker } from "../plain-bm25.ts";
import { average, meanWithInterval } from "../scores.ts";
import { FileCandidates } from "./file-candidates.ts";
import type { EditQuestion } from "./project-history.ts";
import { readProjects } from "./read-projects.ts";
import { replayProject } from "./replayed-project.ts";

/** A project of fewer files needs no search. */
export const MIN_FILES = 20;
const EVERY_WHEN_QUICK = 12;

/** Rank of the first edited file, from 1, for each way of ranking; null if it was not found. */
interface EditRanks {
  readonly kind: EditQuestion["kind"];
  readonly project: string;
  readonly recall: number | null;
  readonly ranking: number | null;
  readonly plain: number | null;
}

/** Asks for the files that agents edited for each task; `every` samples the tasks. */
export const askEditedFiles: ChildTask<{ transcripts: string; every: number }, readonly EditRanks[]> =
  async function askEditedFiles({ transcripts, every }, place) {
    const ranks: EditRanks[] = [];
    const analyzed = new FileCandidates(loadEmbedding());
    const stores = join(place.folder, "stores");
    await mkdir(stores);
    for (const project of await readProjects(transcripts, stores)) {
      const { files: versions, touches, questions } = project.end();
      const root = join(place.folder, "projects", project.name);
      await mkdir(root, { recursive: true });
      const replayed = await replayProject(root, touches);
      for (const [index, { kind, text, askedAtMs, gold }] of questions.entries()) {
        const texts = versions.listAt(askedAtMs);
        if (index % every !== 0 || texts.size < MIN_FILES) continue;
        const files = [...texts].map(([path, own]) => ({ path, text: own }));
        const firstRank = (order: readonly string[]) => 1 + order.findIndex((path) => gold.includes(path));
        const { candidates, statistics } = analyzed.build(text, files);
        const past = touches.filter(({ atMs }) => atMs <= askedAtMs).map(toTouch);
        const pathsOf = (order: readonly number[]) => order.map((id) => files[id]?.path ?? "");
        const ranked = rankFiles(text, candidates, { statistics, touches: past.reverse() });
        ranks.push({
          kind,
          project: project.name,
          recall: firstRank(await replayed.recall(text, askedAtMs, texts)) || null,
          ranking: firstRank(pathsOf(ranked.map(({ id }) => id))) || null,
          plain: firstRank(pathsOf(orderPlainly(files, text))) || null,
        });
      }
      await replayed.close();
      analyzed.clear();
    }
    return ranks;
  };

/** An access as the ranker takes it. */
export function toTouch({ path, isChange }: { readonly path: string; readonly isChange: boolean }) {
  return { path, isEdit: isChange };
}

function orderPlainly(files: readonly { readonly text: string }[], question: string): number[] {
  const scores = createPlainRanker(files.map(({ text }) => text))(question);
  return files
    .map((_, id) => id)
    .sort((left, right) => (scores[right] as number) - (scores[left] as number) || left - right);
}

const GOALS: Readonly<Record<number, number>> = { 1: 0.45, 5: 0.8 };
const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });
const isWithin = (rank: number | null, count: number): number => (rank !== null && rank <= count ? 1 : 0);

function* rowsOf(name: string, ranks: readonly EditRanks[], hasGoal: boolean): Generator<Row> {
  for (const count of [1, 5, 10]) {
    const { mean, low, high } = meanWithInterval(ranks.map(({ recall }) => isWithin(recall, count)));
    const goal = hasGoal ? GOALS[count] : undefined;
    yield toRow({
      id: `edited-files.${name}.acc${count}`,
      value: mean,
      unit: `n=${ranks.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
      beside: "plain BM25, same scorer",
      besideValue: average(ranks.map(({ plain }) => isWithin(plain, count))),
      goal: goal === undefined ? undefined : least(goal),
    });
    yield toRow({
      id: `ranking-alone.edited-files.${name}.acc${count}`,
      value: average(ranks.map(({ ranking }) => isWithin(ranking, count))),
      unit: `n=${ranks.length}`,
      beside: "recall",
      besideValue: mean,
    });
  }
}

/** Tasks of agents' histories over their project's files. */
export const editedFiles: Measurement = {
  name: "edited-files",
  async *run(bench) {
    const transcripts = findDataSet(bench, "transcripts");
    if (transcripts === undefined) return;
    const every = bench.isQuick ? EVERY_WHEN_QUICK : 1;
    const input = { transcripts, every };
    const ranks = await bench.child("edited-files", import.meta.url, askEditedFiles, input);
    yield* rowsOf("all", ranks, !bench.isQuick);
    for (const [kind, own] of Map.groupBy(ranks, (one) => one.kind)) yield* rowsOf(kind, own, false);
    for (const [project, own] of Map.groupBy(ranks, (one) => one.project)) yield* rowsOf(project, own, false);
  },
};
