import { checkFields, checkKind } from "../../model/argument-checks.ts";
import type { UsageBody } from "../../model/entry.ts";
import { createArgumentError } from "../../model/errors.ts";
import { computeReportCost } from "../models/model-catalog.ts";
import type { ModelFacts } from "../models/model-data.ts";
import { addTotals, NO_TOTALS, subtractTotals, type Totals, toTotals } from "./usage-totals.ts";

/** One usage report and the time it was written. */
export interface UsageReport {
  readonly at: number;
  readonly body: UsageBody;
}

/** Usage of one request, as last reported. */
export interface RequestTotals {
  readonly request: string;
  readonly day: string;
  readonly totals: Totals;
}

/** Usage of a session. Plain JSON that grows only with the number of days, so it can be saved and resumed. */
export interface Ledger {
  readonly session: Totals;
  /** By UTC day, as in "2026-11-15". */
  readonly days: Readonly<Record<string, Totals>>;
  /** The latest named requests, oldest first. */
  readonly recent: readonly RequestTotals[];
}

/** Number of requests that may start before a late report of an earlier request counts as a new one. */
export const RECENT_REQUESTS = 64;

export const EMPTY_LEDGER: Ledger = { session: NO_TOTALS, days: {}, recent: [] };

/** Looks up the facts of a model, for reports without a cost. */
export type ModelFactsLookup = (model: string) => ModelFacts | undefined;

/** Adds a report to the ledger; it replaces earlier reports of the same request. */
export function addReport(ledger: Ledger, report: UsageReport, factsOf: ModelFactsLookup): Ledger {
  checkFields("ledger", ledger, { recent: "array" });
  checkKind("factsOf", factsOf, "function");
  const { at, body } = checkFields("report", report, { at: "number", body: "object" });
  checkFields("report.body", body, { usage: "object" });
  if (Number.isNaN(new Date(at).getTime())) throw createArgumentError("report.at", at, "a time");
  const day = new Date(at).toISOString().slice(0, 10);
  const totals = toTotals(body.usage, computeReportCost(body, factsOf));
  const { request } = body;
  if (request === undefined) return addToDay(ledger, day, totals);
  const earlier = ledger.recent.find((one) => one.request === request);
  const before = earlier ? removeRequest(ledger, earlier) : ledger;
  const recent = [...before.recent, { request, day, totals }].slice(-RECENT_REQUESTS);
  return { ...addToDay(before, day, totals), recent };
}

function addToDay(ledger: Ledger, day: string, totals: Totals): Ledger {
  return {
    ...ledger,
    session: addTotals(ledger.session, totals),
    days: { ...ledger.days, [day]: addTotals(ledger.days[day] ?? NO_TOTALS, totals) },
  };
}

function removeRequest(ledger: Ledger, earlier: RequestTotals): Ledger {
  const { [earlier.day]: ofDay = NO_TOTALS, ...otherDays } = ledger.days;
  const left = subtractTotals(ofDay, earlier.totals);
  return {
    session: subtractTotals(ledger.session, earlier.totals),
    days: left.requests === 0 ? otherDays : { ...otherDays, [earlier.day]: left },
    recent: ledger.recent.filter((one) => one !== earlier),
  };
}
