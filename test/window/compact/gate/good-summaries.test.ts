import { describe, expect, test } from "vitest";
import { judgeSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import { GOOD } from "./good-summaries.ts";

describe("summaries that are right", () => {
  test("summaries that are right are at least thirty", () => {
    expect(new Set(GOOD.map(({ text }) => text)).size).toBeGreaterThanOrEqual(30);
  });

  test.each(GOOD)("summaries that are right pass: $name", ({ source, text }) => {
    expect(judgeSummary({ source, summary: text }).failures).toEqual([]);
  });
});
