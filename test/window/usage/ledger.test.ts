import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Usage } from "../../../src/model/usage.ts";
import type { ModelFacts } from "../../../src/window/models/model-data.ts";
import { ASSUMED_FACTS } from "../../../src/window/models/model-facts.ts";
import {
  addReport,
  EMPTY_LEDGER,
  type ModelFactsLookup,
  RECENT_REQUESTS,
  type UsageReport,
} from "../../../src/window/usage/ledger.ts";

const facts: ModelFacts = {
  window: 200_000,
  maxOutput: 32_000,
  prices: { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 3, cacheWriteHour: 4 },
};
const factsOf = (model: string) => (model === "priced" ? facts : undefined);
const buildLedger = (reports: readonly UsageReport[], lookup: ModelFactsLookup) =>
  reports.reduce((ledger, one) => addReport(ledger, one, lookup), EMPTY_LEDGER);
const NOON = Date.UTC(2026, 10, 15, 12);
const HOUR = 3_600_000;

function report(usage: Usage, rest: { request?: string; model?: string; at?: number } = {}): UsageReport {
  const { at = NOON, ...named } = rest;
  return { at, body: { kind: "usage", usage, ...named } };
}

describe("a ledger", () => {
  test("a ledger adds up the usage of all requests of a session", () => {
    const ledger = buildLedger(
      [
        report({ inputTokens: 10, outputTokens: 4, cost: 0.5 }, { request: "a" }),
        report({ inputTokens: 5, cacheReadTokens: 100, reasoningTokens: 2, cost: 0.25 }, { request: "b" }),
      ],
      factsOf,
    );
    expect(ledger.session).toMatchObject({
      requests: 2,
      inputTokens: 15,
      outputTokens: 4,
      cacheReadTokens: 100,
      reasoningTokens: 2,
      cost: 0.75,
      unpricedRequests: 0,
    });
  });

  test("a ledger counts only the last report of a request, even with reports of other requests in between", () => {
    const ledger = buildLedger(
      [
        report({ outputTokens: 1 }, { request: "a" }),
        report({ outputTokens: 7 }, { request: "b" }),
        report({ outputTokens: 30 }, { request: "a" }),
      ],
      factsOf,
    );
    expect(ledger.session).toMatchObject({ requests: 2, outputTokens: 37 });
    expect(ledger.recent.map(({ request, totals }) => [request, totals.outputTokens])).toEqual([
      ["b", 7],
      ["a", 30],
    ]);
  });

  test("a ledger counts every report without a request id", () => {
    const ledger = buildLedger([report({ inputTokens: 1 }), report({ inputTokens: 1 })], factsOf);
    expect(ledger.session).toMatchObject({ requests: 2, inputTokens: 2 });
  });

  test("a ledger groups days by UTC, and counts a request on the day of its last report", () => {
    const ledger = buildLedger(
      [
        report({ inputTokens: 1 }, { request: "a", at: NOON + 11 * HOUR }),
        report({ inputTokens: 2 }, { request: "a", at: NOON + 13 * HOUR }),
        report({ inputTokens: 4 }, { at: NOON + 37 * HOUR }),
      ],
      factsOf,
    );
    expect(Object.entries(ledger.days).map(([day, { inputTokens }]) => [day, inputTokens])).toEqual([
      ["2026-11-16", 2],
      ["2026-11-17", 4],
    ]);
  });

  test("a ledger uses the reported cost, else the prices of the model, and counts the requests that have neither", () => {
    const million = 1_000_000;
    const used: Usage = {
      inputTokens: million,
      outputTokens: million,
      cacheReadTokens: million,
      cacheWriteTokens: 2 * million,
      cacheWriteHourTokens: million,
    };
    const ledger = buildLedger(
      [
        report({ ...used, cost: 1 }, { model: "priced" }),
        report(used, { model: "priced" }),
        report(used, { model: "unheard-of" }),
        report(used),
      ],
      factsOf,
    );
    expect(ledger.session.cost).toBeCloseTo(1 + 2 + 10 + 0.5 + 3 + 4);
    expect(ledger.session.unpricedRequests).toBe(2);
  });

  test("a ledger computes no cost from assumed prices", () => {
    const ledger = buildLedger([report({ inputTokens: 100 }, { model: "x" })], () => ASSUMED_FACTS);
    expect(ledger.session).toMatchObject({ cost: 0, unpricedRequests: 1 });
  });

  test("a ledger stays small, however many requests there are", () => {
    let ledger = EMPTY_LEDGER;
    for (let index = 0; index < 1_000; index++) {
      ledger = addReport(ledger, report({ inputTokens: 1 }, { request: `r${index}` }), factsOf);
    }
    expect(ledger.recent).toHaveLength(RECENT_REQUESTS);
    expect(ledger.session.requests).toBe(1_000);
    expect(JSON.parse(JSON.stringify(ledger))).toEqual(ledger);
  });

  test("a ledger agrees with a naive count over any reports", () => {
    const anyReport = fc.record({
      request: fc.option(fc.constantFrom("a", "b", "c", "__proto__"), { nil: undefined }),
      tokens: fc.nat(1_000),
      hours: fc.nat(72),
    });
    fc.assert(
      fc.property(fc.array(anyReport, { maxLength: 60 }), (drawn) => {
        const last = new Map<string | number, (typeof drawn)[number]>();
        for (const [index, one] of drawn.entries()) last.set(one.request ?? index, one);
        const reports = drawn.map(({ request, tokens, hours }) =>
          report(
            { outputTokens: tokens },
            { at: NOON + hours * HOUR, ...(request !== undefined && { request }) },
          ),
        );
        const ledger = buildLedger(reports, factsOf);
        const days = new Map<string, number>();
        for (const { tokens, hours } of last.values()) {
          const day = new Date(NOON + hours * HOUR).toISOString().slice(0, 10);
          days.set(day, (days.get(day) ?? 0) + tokens);
        }
        const naive = [...last.values()].reduce((sum, { tokens }) => sum + tokens, 0);
        expect(ledger.session).toMatchObject({ requests: last.size, outputTokens: naive });
        expect(
          new Map(Object.entries(ledger.days).map(([day, totals]) => [day, totals.outputTokens])),
        ).toEqual(days);
      }),
    );
  });
});
