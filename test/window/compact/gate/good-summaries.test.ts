import { describe, expect, test } from "vitest";
import { judgeSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import { GOOD } from "./good-summaries.ts";

describe("good summaries", () => {
  test("there are at least thirty good summaries", () => {
    expect(new Set(GOOD.map(({ text }) => text)).size).toBeGreaterThanOrEqual(30);
  });

  test.each(GOOD)("good summaries pass: $name", ({ source, text }) => {
    expect(judgeSummary({ source, summary: text }).failures).toEqual([]);
  });
});
