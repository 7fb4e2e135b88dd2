import type { BudgetPeriod } from "../../model/budget.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The first Monday after 1970 began. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
const WEEK_MS = 7 * DAY_MS;
/** Counts of a few past minutes stay for requests in flight; those of longer periods stay for good. */
const KEPT_MINUTES = 10;

/** The begin of the period that contains a time, in UTC; weeks begin on Monday. */
export function getPeriodStart(period: BudgetPeriod, now: number): number {
  switch (period) {
    case "minute":
      return now - (now % MINUTE_MS);
    case "day":
      return now - (now % DAY_MS);
    case "week":
      return now - ((now - FIRST_MONDAY_MS) % WEEK_MS);
    case "month": {
      const date = new Date(now);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    }
    case "total":
      return 0;
  }
}

/** The end of the period that contains a time; undefined for "total", which never ends. */
export function findPeriodEnd(period: BudgetPeriod, now: number): number | undefined {
  const start = getPeriodStart(period, now);
  if (period === "total") return undefined;
  if (period === "month") {
    const date = new Date(start);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return start + { minute: MINUTE_MS, day: DAY_MS, week: WEEK_MS }[period];
}

/** Counts of periods that began before this time are not needed any more. */
export function getKeptFrom(period: BudgetPeriod, now: number): number {
  return period === "minute" ? getPeriodStart(period, now) - KEPT_MINUTES * MINUTE_MS : 0;
}
