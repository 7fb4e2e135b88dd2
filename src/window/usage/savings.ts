import { checkFields } from "../../model/argument-checks.ts";

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
