import { checkFields, checkKind } from "../../model/argument-checks.ts";
import type { UsageBody } from "../../model/entry.ts";
import type { Usage } from "../../model/usage.ts";
import { computeReportCost, computeUsageCost } from "../models/model-catalog.ts";
import type { ModelFactsLookup } from "./ledger.ts";
import { countPromptTokens, isSummaryUsage, readRequestSizes } from "./usage-meta.ts";

/**
 * Estimated savings of window edits, with their own cost at the same weight. Money is in US dollars. The estimate
 * compares each request with the same request without edits; nobody has sent that one, so it cannot be measured.
 */
export interface Savings {
  readonly basis: "estimated";
  /** Requests with an estimate: sent from a fitted window, and reported by the provider. */
  readonly requests: number;
  /** Prompt tokens without edits minus the tokens sent, in the provider's count. */
  readonly removedTokens: number;
  /** Money saved, less the cost of summaries; negative while edits have not paid off. */
  readonly savedCost: number;
  /** Cost of the same requests without edits: the denominator of `savedCost`. */
  readonly withoutCost: number;
  /** Tokens that edits made the provider write to its cache again, and their cost; `savedCost` includes it. */
  readonly extraWriteTokens: number;
  readonly extraWriteCost: number;
  /** Calls that made summaries, and their cost; `savedCost` includes it. */
  readonly summaryCalls: number;
  readonly summaryCost: number;
  /** Time before these requests were sent, as far as the caller measured it. */
  readonly overheadMs: number;
  /** Requests of models without known prices; the dollars exclude them. */
  readonly unpricedRequests: number;
}

export const NO_SAVINGS: Savings = {
  basis: "estimated",
  requests: 0,
  removedTokens: 0,
  savedCost: 0,
  withoutCost: 0,
  extraWriteTokens: 0,
  extraWriteCost: 0,
  summaryCalls: 0,
  summaryCost: 0,
  overheadMs: 0,
  unpricedRequests: 0,
};

export function addSavings(one: Savings, other: Savings): Savings {
  checkFields("one", one);
  checkFields("other", other);
  return {
    basis: "estimated",
    requests: one.requests + other.requests,
    removedTokens: one.removedTokens + other.removedTokens,
    savedCost: one.savedCost + other.savedCost,
    withoutCost: one.withoutCost + other.withoutCost,
    extraWriteTokens: one.extraWriteTokens + other.extraWriteTokens,
    extraWriteCost: one.extraWriteCost + other.extraWriteCost,
    summaryCalls: one.summaryCalls + other.summaryCalls,
    summaryCost: one.summaryCost + other.summaryCost,
    overheadMs: one.overheadMs + other.overheadMs,
    unpricedRequests: one.unpricedRequests + other.unpricedRequests,
  };
}

/**
 * Savings of one reported request: the cost of the same request without edits, minus its own. Tokens that an unedited
 * request would carry cost as much as the provider reported for this one: cache prices only where it reported a cache.
 */
export function computeSavings(report: UsageBody, factsOf: ModelFactsLookup): Savings {
  checkFields("report", report, { usage: "object" });
  checkKind("factsOf", factsOf, "function");
  const { usage, model } = report;
  if (isSummaryUsage(report)) {
    const cost = computeReportCost(report, factsOf);
    return {
      ...NO_SAVINGS,
      savedCost: cost === undefined ? 0 : -cost,
      summaryCalls: 1,
      summaryCost: cost ?? 0,
      unpricedRequests: cost === undefined ? 1 : 0,
    };
  }
  const sizes = readRequestSizes(report);
  const promptTokens = countPromptTokens(usage);
  if (!sizes || !(promptTokens > 0)) return NO_SAVINGS;
  const { estimatedTokens, uneditedTokens, priorTokens, isHot, overheadMs } = sizes;
  const scale = promptTokens / estimatedTokens;
  const unedited = Math.round(uneditedTokens * scale);
  const removedTokens = unedited - promptTokens;
  const edit = priorTokens === undefined ? undefined : { prior: priorTokens * scale, isHot };
  const removing = removedTokens === 0 ? usage : addRemovedTokens(usage, removedTokens);
  const other = edit ? buildUneditedUsage(usage, unedited, edit) : removing;
  const extraWriteTokens = edit?.isHot ? Math.max(0, countUncached(usage) - countUncached(other)) : 0;
  const known = { ...NO_SAVINGS, requests: 1, removedTokens, extraWriteTokens, overheadMs };
  const facts = model === undefined ? undefined : factsOf(model);
  const cost = computeReportCost(report, factsOf);
  if (!facts || facts.arePricesAssumed || cost === undefined) return { ...known, unpricedRequests: 1 };
  const savedCost =
    other === usage ? 0 : computeUsageCost(other, facts) - computeUsageCost(withoutCost(usage), facts);
  const writePrice =
    (facts.prices[(usage.cacheWriteTokens ?? 0) > 0 ? "cacheWrite" : "input"] - facts.prices.cacheRead) /
    1_000_000;
  return {
    ...known,
    savedCost,
    withoutCost: cost + savedCost,
    extraWriteCost: extraWriteTokens * Math.max(0, writePrice),
  };
}

/** A request without an edit of its own differs from the unedited one by tokens of the unchanged beginning. */
function addRemovedTokens(usage: Usage, removedTokens: number): Usage {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, ...rest } = withoutCost(usage);
  const more = Math.max(-countPromptTokens(usage), removedTokens);
  if (cacheReadTokens > 0)
    return { ...rest, inputTokens, cacheWriteTokens, cacheReadTokens: Math.max(0, cacheReadTokens + more) };
  if (cacheWriteTokens > 0)
    return { ...rest, inputTokens, cacheReadTokens, cacheWriteTokens: Math.max(0, cacheWriteTokens + more) };
  return { ...rest, inputTokens: Math.max(0, inputTokens + more), cacheReadTokens, cacheWriteTokens };
}

/** Without its edit, the request would have begun with the last one, which the provider's cache contains while hot. */
function buildUneditedUsage(
  usage: Usage,
  unedited: number,
  { prior, isHot }: { readonly prior: number; readonly isHot: boolean },
): Usage {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWriteHourTokens = 0 } = usage;
  const { outputTokens = 0 } = usage;
  const hasCache = cacheReadTokens + cacheWriteTokens > 0;
  const cached = hasCache && (isHot || cacheReadTokens > 0) ? Math.round(Math.min(prior, unedited)) : 0;
  const rest = unedited - cached;
  if (cacheWriteTokens <= 0) return { outputTokens, inputTokens: rest, cacheReadTokens: cached };
  // The rest divides as the provider's report does.
  const written = Math.round((rest * cacheWriteTokens) / (cacheWriteTokens + inputTokens));
  return {
    outputTokens,
    inputTokens: rest - written,
    cacheReadTokens: cached,
    cacheWriteTokens: written,
    cacheWriteHourTokens: Math.round((written * cacheWriteHourTokens) / cacheWriteTokens),
  };
}

/** The counts alone, because an edit changes neither searches nor surcharges. */
function withoutCost({ cost: _, priceFactor: __, webSearches: ___, ...counts }: Usage): Usage {
  return counts;
}

function countUncached({ inputTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return inputTokens + cacheWriteTokens;
}
