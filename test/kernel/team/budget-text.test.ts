import { expect, test } from "vitest";
import { formatBudget, parseBudget } from "../../../src/kernel/faces/people.ts";
import { findPeriodEnd, getPeriodStart } from "../../../src/kernel/team/budget-period.ts";

test("budgets are read in the notation of people", () => {
  const read = (text: string) => formatBudget(parseBudget(text));
  expect(read("50/month")).toBe("$50 per month");
  expect(read("$12.5/day")).toBe("$12.50 per day");
  expect(read("2m tokens/week")).toBe("2,000,000 tokens per week");
  expect(read("500ktokens/total")).toBe("500,000 tokens in total");
  expect(read("60 requests/minute")).toBe("60 requests per minute");
  expect(parseBudget("10/day:model=claude-opus-*:project=a:b=c")).toEqual({
    amount: 10,
    unit: "usd",
    period: "day",
    model: "claude-opus-*",
    project: "a:b=c",
  });
  const huge = `${"9".repeat(310)}/day`;
  for (const wrong of ["", "50", "50/year", "x/day", "-5/day", huge, "5/day:model=", "5/day:model=a:model=b"])
    expect(() => parseBudget(wrong)).toThrow(/50\/month/);
});

test("periods begin in UTC, and weeks on Monday", () => {
  const now = Date.parse("2026-11-18T13:45:30.5Z");
  const spans = (["minute", "day", "week", "month"] as const).map((period) => [
    new Date(getPeriodStart(period, now)).toISOString(),
    new Date(findPeriodEnd(period, now) ?? 0).toISOString(),
  ]);
  expect(spans).toEqual([
    ["2026-11-18T13:45:00.000Z", "2026-11-18T13:46:00.000Z"],
    ["2026-11-18T00:00:00.000Z", "2026-11-19T00:00:00.000Z"],
    ["2026-11-16T00:00:00.000Z", "2026-11-23T00:00:00.000Z"],
    ["2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
  ]);
  expect([getPeriodStart("total", now), findPeriodEnd("total", now)]).toEqual([0, undefined]);
});
