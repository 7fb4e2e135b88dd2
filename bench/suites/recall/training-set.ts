import { computeFeatures } from "../../../src/memory/rank/compute-features.ts";
import { RANK_FEATURES } from "../../../src/memory/rank/feature-list.ts";
import { parseQuery } from "../../../src/memory/rank/query.ts";
import { type Embedding, type InMemoryScope, indexItems } from "./in-memory-scope.ts";
import type { Item, Question } from "./question.ts";

/** A question for fitting: a row of features for each item. */
export interface Example {
  readonly set: string;
  readonly group: string;
  /** Whether the conversation is between people. */
  readonly isPeople: boolean;
  readonly rows: number;
  /** Row by row. */
  readonly values: Float32Array;
  readonly gold: readonly number[];
  /** Rows that fitting compares: answers, the best by words and vectors, and some of the rest. */
  readonly sample: readonly number[];
}

const BEST = 70;
const REST = 30;

/** The features of every item for every question; questions of one scope must be adjacent. */
export function buildExamples(questions: readonly Question[], embedding: Embedding | null): Example[] {
  let last: { items: readonly Item[]; scope: InMemoryScope } | undefined;
  return questions.map(({ set, group, text, askedAtMs, items, gold }) => {
    if (last?.items !== items) last = { items, scope: indexItems(items, embedding) };
    const context = last.scope.context(askedAtMs);
    const { features } = computeFeatures(parseQuery(text, context), last.scope.candidates(text), context);
    const values = new Float32Array(items.length * RANK_FEATURES.length);
    for (const [column, feature] of RANK_FEATURES.entries()) {
      for (let row = 0; row < items.length; row++) {
        values[row * RANK_FEATURES.length + column] = features[feature][row] as number;
      }
    }
    const own = (row: number) =>
      (features.whole[row] as number) +
      (features.chunk[row] as number) +
      (features.soft[row] as number) +
      (features.similarity[row] as number);
    const order = items.map((_, row) => row).sort((left, right) => own(right) - own(left));
    const step = Math.max(1, Math.floor((order.length - BEST) / REST));
    const rest = order.slice(BEST).filter((_, place) => place % step === 0);
    const sample = [...new Set([...gold, ...order.slice(0, BEST), ...rest])];
    return { set, group, isPeople: context.speakers.length > 0, rows: items.length, values, gold, sample };
  });
}
