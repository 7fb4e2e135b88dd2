import { expect, test } from "vitest";
import { fillMissingSimilarities } from "../../../src/recall/rank/compute-features.ts";

const { NaN: MISSING } = Number;

test("a turn without a vector gets the mean similarity of the turns with the closest word scores", () => {
  const similarities = Float64Array.of(
    ...Array<number>(10).fill(0.2),
    ...Array<number>(10).fill(0.6),
    MISSING,
    MISSING,
  );
  const scores = Float64Array.of(...Array<number>(10).fill(1), ...Array<number>(10).fill(5), 1.5, 6);
  fillMissingSimilarities(similarities, scores);
  expect(similarities[20]).toBeCloseTo(0.2);
  expect(similarities[21]).toBeCloseTo(0.6);
});

test("every similarity is 0 if no turn has a vector", () => {
  const similarities = Float64Array.of(MISSING, MISSING);
  fillMissingSimilarities(similarities, Float64Array.of(1, 2));
  expect([...similarities]).toEqual([0, 0]);
});
