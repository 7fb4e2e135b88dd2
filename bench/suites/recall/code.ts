import { listDefinitions } from "../../../src/recall/files/index-files.ts";
import { rankFiles } from "../../../src/recall/rank/rank-files.ts";
import { analyzeText } from "../../../src/recall/text/analyze-text.ts";
import { CODE_CHUNK, splitText } from "../../../src/recall/text/split-text.ts";
import type { ChildTask } from "../../child-job.ts";
import { type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { findDataSet } from "./data-folder.ts";
import { IndexedRepositories } from "./index-repositories.ts";
import { createPlainRanker } from "./plain-bm25.ts";
import { average, meanWithInterval } from "./scores.ts";
import { type CodeQuestion, readSweBench } from "./swe-bench.ts";

/** Rank of the first file to change, from 1, for each issue; null if it was not found. */
interface Ranks {
  readonly repository: string;
  readonly recall: number | null;
  readonly ranking: number | null;
  readonly plain: number | null;
}

/** Asks SWE-bench issues for files by its protocol; `every` samples the issues. */
export const askSweBench: ChildTask<{ folder: string; every: number }, readonly Ranks[]> =
  async function askSweBench({ folder, every }, place) {
    const repositories = new IndexedRepositories(place.folder);
    const ranks: Ranks[] = [];
    for (const [index, question] of [...readSweBench(folder)].entries()) {
      if (index % every !== 0) continue;
      const { repository, gold } = question;
      ranks.push({
        repository,
        recall: firstRank(await repositories.recall(question), gold),
        ranking: firstRank(orderFiles(question), gold),
        plain: firstRank(plainOrder(question), gold),
      });
    }
    await repositories.close();
    return ranks;
  };

function plainOrder({ files, text }: CodeQuestion): number[] {
  const scores = createPlainRanker(files.map((file) => file.text))(text);
  const order = files.map((_, id) => id);
  return order.sort((left, right) => (scores[right] as number) - (scores[left] as number) || left - right);
}

function orderFiles({ files, text }: CodeQuestion): number[] {
  const frequencies = new Map<string, number>();
  const candidates = files.map((file, id) => {
    const parts = splitText(file.text, CODE_CHUNK).map(({ from, to }) =>
      analyzeText(file.text.slice(from, to)),
    );
    for (const terms of parts) {
      for (const term of new Set(terms)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    }
    return {
      id,
      path: file.path,
      length: parts.reduce((sum, terms) => sum + terms.length, 0),
      definitions: listDefinitions(file.text),
      chunks: parts.map((terms, chunk) => ({ id: chunk, terms, traits: 0, similarity: null })),
    };
  });
  const count = candidates.reduce((sum, file) => sum + file.chunks.length, 0);
  const terms = candidates.reduce((sum, { length }) => sum + length, 0);
  const statistics = {
    chunks: count,
    averageChunkLength: terms / Math.max(1, count),
    averageLength: terms / Math.max(1, candidates.length),
    frequencyOf: (term: string) => frequencies.get(term) ?? 0,
  };
  return rankFiles(text, candidates, { statistics }).map(({ id }) => id);
}

function firstRank(order: readonly number[], gold: readonly number[]): number | null {
  const place = order.findIndex((id) => gold.includes(id));
  return place < 0 ? null : 1 + place;
}

const GOALS: Readonly<Record<number, number>> = { 1: 0.45, 5: 0.8 };
const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });

const EVERY_WHEN_QUICK = 6;
const isWithin = (rank: number | null, count: number): number => (rank !== null && rank <= count ? 1 : 0);

/** Issues over a repository's files. */
export const code: Measurement = {
  name: "swe-bench",
  async *run(bench) {
    const folder = findDataSet(bench, "swebench-files");
    if (folder === undefined) return;
    const every = bench.isQuick ? EVERY_WHEN_QUICK : 1;
    const ranks = await bench.child("swe-bench", import.meta.url, askSweBench, { folder, every });
    for (const count of [1, 3, 5, 10]) {
      const { mean, low, high } = meanWithInterval(ranks.map(({ recall }) => isWithin(recall, count)));
      const goal = bench.isQuick ? undefined : GOALS[count];
      yield toRow({
        id: `swe-bench.file.acc${count}`,
        value: mean,
        unit: `n=${ranks.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
        beside: "plain BM25, same scorer",
        besideValue: average(ranks.map(({ plain }) => isWithin(plain, count))),
        goal: goal === undefined ? undefined : least(goal),
      });
      if (!(count in GOALS)) continue;
      yield toRow({
        id: `ranking-alone.swe-bench.file.acc${count}`,
        value: average(ranks.map(({ ranking }) => isWithin(ranking, count))),
        unit: `n=${ranks.length}`,
        beside: "recall",
        besideValue: mean,
      });
    }
  },
};
