import { rankFiles } from "../../../src/memory/rank/rank-files.ts";
import { analyse } from "../../../src/memory/text/analyse.ts";
import { CODE_CHUNK, chunks } from "../../../src/memory/text/chunks.ts";
import { definitionsOf } from "../../../src/memory/text/definitions.ts";
import type { ChildTask } from "../../child-job.ts";
import { type Goal, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { findDataSet } from "./data-folder.ts";
import { createPlainRanker } from "./plain-bm25.ts";
import { average, meanWithInterval } from "./scores.ts";
import { type CodeQuestion, readSweBench } from "./swe-bench.ts";

/** Rank of the first file to change, from 1, for each issue. */
interface Ranks {
  readonly repository: string;
  readonly ours: number;
  readonly plain: number;
}

/** SWE-bench issues to files by its protocol. */
export const askSweBench: ChildTask<string, readonly Ranks[]> = async function askSweBench(folder) {
  return [...readSweBench(folder)].map((question) => {
    const scores = createPlainRanker(question.files.map(({ text }) => text))(question.text);
    const order = question.files.map((_, id) => id);
    order.sort((left, right) => (scores[right] as number) - (scores[left] as number) || left - right);
    return {
      repository: question.repository,
      ours: firstRank(orderFiles(question), question.gold),
      plain: firstRank(order, question.gold),
    };
  });
};

function orderFiles({ files, text }: CodeQuestion): number[] {
  const frequencies = new Map<string, number>();
  const candidates = files.map((file, id) => {
    const parts = chunks(file.text, CODE_CHUNK).map(({ from, to }) => analyse(file.text.slice(from, to)));
    for (const terms of parts) {
      for (const term of new Set(terms)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    }
    return {
      id,
      path: file.path,
      length: parts.reduce((sum, terms) => sum + terms.length, 0),
      definitions: definitionsOf(file.text),
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

function firstRank(order: readonly number[], gold: readonly number[]): number {
  return 1 + order.findIndex((id) => gold.includes(id));
}

const GOALS: Readonly<Record<number, number>> = { 1: 0.45, 5: 0.8 };
const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });

/** Issues over a repository's files. */
export const code: Measurement = {
  name: "swe-bench",
  async *run(bench) {
    const folder = findDataSet(bench, "swebench-files");
    if (folder === undefined) return;
    const ranks = await bench.child("swe-bench", import.meta.url, askSweBench, folder);
    for (const count of [1, 3, 5, 10]) {
      const { mean, low, high } = meanWithInterval(ranks.map(({ ours }) => (ours <= count ? 1 : 0)));
      const goal = GOALS[count];
      yield toRow({
        id: `swe-bench.file.acc${count}`,
        value: mean,
        unit: `n=${ranks.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
        beside: "plain BM25, same scorer",
        besideValue: average(ranks.map(({ plain }) => (plain <= count ? 1 : 0))),
        goal: goal === undefined ? undefined : least(goal),
      });
    }
  },
};
