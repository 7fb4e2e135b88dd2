import { describe, expect, test } from "vitest";
import { orderByBothStages } from "../../../src/memory/careful/mix-scores.ts";

describe("the order by both stages", () => {
  test("is that of the first stage if the reader sees no difference", () => {
    expect(orderByBothStages([5, 4, 3], [1, 1, 1])).toEqual([0, 1, 2]);
  });

  test("follows the reader where it is certain", () => {
    expect(orderByBothStages([5, 4, 3], [-4, -4, 8])).toEqual([2, 0, 1]);
  });

  test("keeps the places of equal candidates", () => {
    expect(orderByBothStages([1, 1, 1], [0, 0, 0])).toEqual([0, 1, 2]);
  });

  test("of nothing is nothing", () => {
    expect(orderByBothStages([], [])).toEqual([]);
  });
});
