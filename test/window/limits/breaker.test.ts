import { describe, expect, test } from "vitest";
import { afterEdit, type Breaker, freshBreaker, isTripped } from "../../../src/window/limits/breaker.ts";

const edited = (...steps: [beforeTokens: number, afterTokens: number][]): Breaker =>
  steps.reduce<Breaker>(
    (breaker, [beforeTokens, afterTokens]) => afterEdit(breaker, { beforeTokens, afterTokens }),
    freshBreaker,
  );

describe("a breaker", () => {
  test("lets edits through as long as the window shrinks", () => {
    expect(isTripped(edited([100, 90], [90, 80], [80, 70], [70, 60]))).toBe(false);
  });

  test("trips at the third edit in a row that frees nothing, next to nothing, or grows the window", () => {
    expect(isTripped(edited([100, 100], [100, 99]))).toBe(false);
    expect(isTripped(edited([100, 100], [100, 99], [99, 120]))).toBe(true);
  });

  test("forgets idle edits once there is progress", () => {
    expect(isTripped(edited([100, 100], [100, 100], [100, 50], [50, 50], [50, 50]))).toBe(false);
  });

  test("takes an edit of an empty window for idle", () => {
    expect(isTripped(edited([0, 0], [0, 0], [0, 0]))).toBe(true);
  });

  test("can be set to another patience and another measure of progress", () => {
    const limits = { mostIdleEdits: 1, leastFreedShare: 0.5 };
    const breaker = afterEdit(freshBreaker, { beforeTokens: 100, afterTokens: 60 }, limits);
    expect(isTripped(breaker, limits)).toBe(true);
  });
});
