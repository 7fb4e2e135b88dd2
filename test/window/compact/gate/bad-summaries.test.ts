import { describe, expect, test } from "vitest";
import { judgeSummary } from "../../../../src/window/compact/gate/judge-summary.ts";
import { SUMMARY_FAULTS } from "../../../../src/window/compact/gate/summary-verdict.ts";
import { BAD } from "./bad-summaries.ts";
import { GOOD } from "./good-summaries.ts";

describe("wrong summaries", () => {
  test("at least thirty wrong summaries cover every fault, and none of them is a good one", () => {
    expect(BAD.length).toBeGreaterThanOrEqual(30);
    expect(new Set(BAD.map(({ fault }) => fault))).toEqual(new Set(SUMMARY_FAULTS));
    const good = new Set(GOOD.map(({ text }) => text));
    expect(BAD.filter(({ text }) => good.has(text))).toEqual([]);
  });

  test.each(BAD)("wrong summaries are rejected: $name", ({ source, text, fault }) => {
    const verdict = judgeSummary({ source, summary: text });
    expect(verdict.ok).toBe(false);
    expect(verdict.failures.map((failure) => failure.fault)).toContain(fault);
  });
});
