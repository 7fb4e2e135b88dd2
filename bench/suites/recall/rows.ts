import { type Goal, type Row, toRow } from "../../result.ts";
import type { Asked } from "./ask.ts";
import { average, MEASURES, meanWithInterval } from "./scores.ts";

type Measure = (typeof MEASURES)[number];

const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });

/** Goals of the development split, by level and measure. */
const GOALS: Readonly<Record<string, Partial<Record<Measure, number>>>> = {
  "longmemeval.turn.both": { all5: 0.8, all10: 0.9 },
  "longmemeval.session.both": { any1: 0.9, any5: 0.98, all5: 0.94, all10: 0.98 },
  "locomo.turn": { fraction10: 0.85 },
  "beam-100K.turn": { fraction10: 0.68 },
};

/** Rows of all levels: over all questions with their goals, ranking alone, then by category. */
export function* toRows(asked: readonly Asked[], isWhole: boolean): Generator<Row> {
  for (const level of new Set(asked.map((one) => one.level))) {
    const atLevel = asked.filter((one) => one.level === level);
    const goals = GOALS[level] ?? {};
    yield* rowsOf(level, atLevel, MEASURES, isWhole ? goals : {});
    yield* answerableRows(level, atLevel);
    yield* rankingRows(level, atLevel, Object.keys(goals) as Measure[]);
    const categories = [...new Set(atLevel.map((one) => one.category))].sort();
    // In a sample, a category has only two or three questions.
    if (categories.length < 2 || !isWhole) continue;
    const shown = MEASURES.filter((measure) => measure !== "ndcg10" && measure !== "fraction50");
    for (const category of categories) {
      yield* rowsOf(
        `${level}.${category}`,
        atLevel.filter((one) => one.category === category),
        shown,
        {},
      );
    }
  }
}

/** Ranking alone compared with `recall`: the difference is the share that the index misses. */
function* rankingRows(level: string, asked: readonly Asked[], measures: readonly Measure[]): Generator<Row> {
  for (const measure of measures) {
    yield toRow({
      id: `ranking-alone.${level}.${measure}`,
      value: average(asked.map(({ ranking }) => ranking[measure])),
      unit: `n=${asked.length}`,
      beside: "recall",
      besideValue: average(asked.map(({ recall }) => recall[measure])),
    });
  }
}

/** Answers that stand in the first 2,000 tokens of the results, next to the same tokens of whole turns by plain BM25. */
function* answerableRows(level: string, asked: readonly Asked[]): Generator<Row> {
  const checked = asked.flatMap(({ isAnswerable }) => isAnswerable ?? []);
  if (checked.length === 0) return;
  const { mean, low, high } = meanWithInterval(checked.map(({ recall }) => (recall ? 1 : 0)));
  yield toRow({
    id: `${level}.answerable2000`,
    value: mean,
    unit: `n=${checked.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
    beside: "plain BM25, same tokens",
    besideValue: average(checked.map(({ plain }) => (plain ? 1 : 0))),
  });
}

function* rowsOf(
  id: string,
  asked: readonly Asked[],
  measures: readonly Measure[],
  goals: Partial<Record<Measure, number>>,
): Generator<Row> {
  for (const measure of measures) {
    const { mean, low, high } = meanWithInterval(asked.map(({ recall }) => recall[measure]));
    const goal = goals[measure];
    yield toRow({
      id: `${id}.${measure}`,
      value: mean,
      unit: `n=${asked.length}, ${low.toFixed(3)}–${high.toFixed(3)}`,
      beside: "plain BM25, same scorer",
      besideValue: average(asked.map(({ plain }) => plain[measure])),
      goal: goal === undefined ? undefined : least(goal),
    });
  }
}
