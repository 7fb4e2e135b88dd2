import { type Goal, type Row, toRow } from "../../result.ts";
import type { Asked } from "./ask.ts";
import { average, MEASURES, meanWithInterval } from "./scores.ts";

type Measure = (typeof MEASURES)[number];

const least = (value: number): Goal => ({ text: `>= ${value}`, isMet: (found) => found >= value });

/** Goals of the development split, by level and measure. */
const GOALS: Readonly<Record<string, Partial<Record<Measure, number>>>> = {
  "longmemeval.turn.both": { all5: 0.75, all10: 0.88 },
  "longmemeval.session.both": { all5: 0.92, all10: 0.97 },
  "locomo.turn": { fraction10: 0.8 },
  "beam-100K.turn": { fraction10: 0.63 },
};

/** Rows of all levels: over all questions with their goals, ranking alone, then by category. */
export function* toRows(asked: readonly Asked[], isWhole: boolean): Generator<Row> {
  for (const level of new Set(asked.map((one) => one.level))) {
    const atLevel = asked.filter((one) => one.level === level);
    const goals = GOALS[level] ?? {};
    yield* rowsOf(level, atLevel, MEASURES, isWhole ? goals : {});
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
