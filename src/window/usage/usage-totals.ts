import { checkFields } from "../../model/argument-checks.ts";
import type { Usage } from "../../model/usage.ts";

/** Summed usage of requests. */
export interface Totals {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWriteHourTokens: number;
  readonly reasoningTokens: number;
  /** US dollars. */
  readonly cost: number;
  /** Requests whose cost is neither reported nor computable from prices; `cost` excludes them. */
  readonly unpricedRequests: number;
}

export const NO_TOTALS: Totals = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  unpricedRequests: 0,
};

/** The totals of one request; `cost` is undefined if unknown. */
export function toTotals(usage: Usage, cost: number | undefined): Totals {
  return {
    requests: 1,
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    cacheWriteHourTokens: usage.cacheWriteHourTokens ?? 0,
    reasoningTokens: usage.reasoningTokens ?? 0,
    cost: cost ?? 0,
    unpricedRequests: cost === undefined ? 1 : 0,
  };
}

export function addTotals(one: Totals, other: Totals): Totals {
  return combine(checkFields("one", one), checkFields("other", other), 1);
}

export function subtractTotals(one: Totals, other: Totals): Totals {
  return combine(one, other, -1);
}

function combine(one: Totals, other: Totals, sign: 1 | -1): Totals {
  return {
    requests: one.requests + sign * other.requests,
    inputTokens: one.inputTokens + sign * other.inputTokens,
    outputTokens: one.outputTokens + sign * other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + sign * other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + sign * other.cacheWriteTokens,
    cacheWriteHourTokens: one.cacheWriteHourTokens + sign * other.cacheWriteHourTokens,
    reasoningTokens: one.reasoningTokens + sign * other.reasoningTokens,
    cost: one.cost + sign * other.cost,
    unpricedRequests: one.unpricedRequests + sign * other.unpricedRequests,
  };
}
