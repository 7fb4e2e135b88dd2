import { Random } from "../../random.ts";

/** Scores of one ranking. */
export interface Score {
  readonly any1: number;
  readonly any5: number;
  readonly any10: number;
  readonly all5: number;
  readonly all10: number;
  readonly fraction5: number;
  readonly fraction10: number;
  readonly fraction50: number;
  readonly ndcg10: number;
}

export const MEASURES = [
  "any1",
  "any5",
  "any10",
  "all5",
  "all10",
  "fraction5",
  "fraction10",
  "fraction50",
  "ndcg10",
] as const;

/** Scores an order of ids, best first, against the ids that answer. */
export function scoreOrder(order: readonly number[], gold: readonly number[]): Score {
  const wanted = new Set(gold);
  const found = (count: number) => order.slice(0, count).filter((id) => wanted.has(id)).length;
  const [five, ten, fifty] = [found(5), found(10), found(50)];
  return {
    any1: found(1),
    any5: five > 0 ? 1 : 0,
    any10: ten > 0 ? 1 : 0,
    all5: five === wanted.size ? 1 : 0,
    all10: ten === wanted.size ? 1 : 0,
    fraction5: five / wanted.size,
    fraction10: ten / wanted.size,
    fraction50: fifty / wanted.size,
    ndcg10:
      gain(order.slice(0, 10).map((id) => wanted.has(id))) /
      gain(Array(Math.min(10, wanted.size)).fill(true)),
  };
}

function gain(hits: readonly boolean[]): number {
  return hits.reduce((sum, isHit, place) => sum + (isHit ? 1 / Math.log2(place + 2) : 0), 0);
}

/** Mean of one measure with its 95 % bootstrap interval. */
export function meanWithInterval(
  values: readonly number[],
  draws = 1_000,
): { mean: number; low: number; high: number } {
  const mean = average(values);
  const random = new Random(1);
  const means = Array.from({ length: draws }, () => {
    let sum = 0;
    for (let index = 0; index < values.length; index++) sum += values[random.between(0, values.length)] ?? 0;
    return sum / values.length;
  }).sort((left, right) => left - right);
  return {
    mean,
    low: means[Math.floor(draws * 0.025)] ?? mean,
    high: means[Math.floor(draws * 0.975)] ?? mean,
  };
}

/** Mean of numbers; 0 for none. */
export function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The share of pairs of a true and a false case in which the true one has the higher value; 0.5 without any pair. */
export function computeCurveArea(cases: readonly (readonly [value: number, isTrue: boolean])[]): number {
  const [yes, no] = [cases.filter(([, isTrue]) => isTrue), cases.filter(([, isTrue]) => !isTrue)];
  if (yes.length === 0 || no.length === 0) return 0.5;
  const won = yes.map(([high]) => average(no.map(([low]) => (high > low ? 1 : high === low ? 0.5 : 0))));
  return average(won);
}
