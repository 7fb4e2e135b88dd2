import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ChildTask } from "../../../child-job.ts";
import { type Goal, type Row, toRow } from "../../../result.ts";
import type { Measurement } from "../../../suite.ts";
import { findDataSet } from "../data-folder.ts";
import { average, computeCurveArea, meanWithInterval } from "../scores.ts";
import { FullTextBaseline } from "./full-text-baseline.ts";
import type { HistoryQuestion } from "./history-question.ts";
import { type HistoryRanks, judgeHits } from "./judge-hits.ts";
import { HISTORY_FORMATS, openHistory } from "./open-history.ts";

const MAX_HITS = 100;
const EVERY_WHEN_QUICK = 6;

/** The ranks of one question. */
interface AskedHistory {
  readonly kind: HistoryQuestion["kind"];
  readonly recall: HistoryRanks;
  readonly plain: HistoryRanks;
  readonly certainty: number;
}

/** Asks the questions that the histories of one agent answer themselves. */
export const askHistory: ChildTask<
  { transcripts: string; format: string; every: number },
  readonly AskedHistory[]
> = async function askHistory({ transcripts, format, every }, place) {
  const baseline = new FullTextBaseline();
  const { recall, questions } = await openHistory(transcripts, format, place.folder, (entry) =>
    baseline.add(entry),
  );
  await recall.memory.catchUp();
  const asked: AskedHistory[] = [];
  for (const question of questions.filter((_, index) => index % every === 0)) {
    const { hits, certainty } = await recall.memory.recall(question.text, { k: MAX_HITS });
    const found = hits.flatMap((hit) =>
      hit.kind === "session" ? [{ text: hit.text, session: hit.session, atMs: hit.at }] : [],
    );
    asked.push({
      kind: question.kind,
      certainty,
      recall: judgeHits(question, found),
      plain: judgeHits(question, baseline.search(question.text, MAX_HITS)),
    });
  }
  baseline.close();
  await recall.close();
  return asked;
};

const MEASURES: Readonly<Record<string, (ranks: HistoryRanks) => number>> = {
  place1: ({ place }) => (place === 1 ? 1 : 0),
  place5: ({ place }) => (place !== null && place <= 5 ? 1 : 0),
  place10: ({ place }) => (place !== null && place <= 10 ? 1 : 0),
  mrr: ({ place }) => (place === null ? 0 : 1 / place),
  session1: ({ session }) => (session === 1 ? 1 : 0),
};

const GOALS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "claude-code.commits": { place1: 0.72, place5: 0.93, place10: 0.95, mrr: 0.82, session1: 0.95 },
  "claude-code.plans": { place1: 0.42, place5: 0.72, place10: 0.82, mrr: 0.55, session1: 0.92 },
};

const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });

function* rowsOf(set: string, asked: readonly AskedHistory[], isWhole: boolean): Generator<Row> {
  for (const [name, measure] of Object.entries(MEASURES)) {
    const { mean, low, high } = meanWithInterval(asked.map(({ recall }) => measure(recall)));
    const goal = isWhole ? GOALS[set]?.[name] : undefined;
    yield toRow({
      id: `history.${set}.${name}`,
      value: mean,
      unit: `n=${asked.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
      beside: "FTS5 BM25, same judge",
      besideValue: average(asked.map(({ plain }) => measure(plain))),
      goal: goal === undefined ? undefined : least(goal),
    });
  }
}

/** Questions over agents' histories. */
export const histories: Measurement = {
  name: "history",
  async *run(bench) {
    const transcripts = findDataSet(bench, "transcripts");
    if (transcripts === undefined) return;
    for (const format of HISTORY_FORMATS) {
      if (!existsSync(join(transcripts, format))) continue;
      const input = { transcripts, format, every: bench.isQuick ? EVERY_WHEN_QUICK : 1 };
      const asked = await bench.child(`history-${format}`, import.meta.url, askHistory, input);
      for (const [kind, own] of Map.groupBy(asked, (one) => one.kind))
        yield* rowsOf(`${format}.${kind}`, own, !bench.isQuick);
      yield toRow({
        id: `history.${format}.certainty`,
        value: computeCurveArea(
          asked.map(({ recall, certainty }) => [certainty, recall.place !== null && recall.place <= 5]),
        ),
        unit: `area under the curve: found among the first five or not, n=${asked.length}`,
        beside: "without an estimate",
        besideValue: 0.5,
      });
    }
  },
};
