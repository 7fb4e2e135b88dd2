import type { Savings } from "../../window-entry.ts";
import { formatCount, formatQuantity, formatShare } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";

/** One sentence about the savings of edits, with their denominator and their own cost; empty if nothing was edited. */
export function renderSavings(savings: Savings): readonly string[] {
  const { requests, removedTokens, savedCost, withoutCost, summaryCalls, summaryCost } = savings;
  if (requests + summaryCalls === 0 || (removedTokens === 0 && summaryCalls === 0)) return [];
  const { extraWriteTokens, extraWriteCost, overheadMs, unpricedRequests } = savings;
  const change = savedCost < 0 ? "edits cost" : "edits saved";
  const share = withoutCost > 0 ? ` (${formatShare(Math.abs(savedCost), withoutCost)})` : "";
  const money = `${formatDollars(Math.abs(savedCost))} of ${formatDollars(withoutCost)} without them${share}`;
  const own = [
    `${formatQuantity(extraWriteTokens, "token")} written to caches again (${formatDollars(extraWriteCost)})`,
    `${formatQuantity(summaryCalls, "summary call")} (${formatDollars(summaryCost)})`,
    ...(overheadMs > 0 ? [`${(overheadMs / Math.max(1, requests)).toFixed(1)} ms per request`] : []),
  ];
  const unpriced =
    unpricedRequests > 0 ? `; ${formatQuantity(unpricedRequests, "request")} without a known price` : "";
  return [
    `estimated: ${change} ${money}, ${formatCount(removedTokens)} tokens in ${formatQuantity(requests, "request")}; their own cost, included: ${own.join(", ")}${unpriced}`,
  ];
}
