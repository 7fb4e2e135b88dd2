import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { formatCost } from "../spending/render-spending.ts";
import type { SavingsEstimate } from "./savings-estimate.ts";

/** Formats the reported cost and the estimate as one sentence. */
export function describeSavings({ totals, estimate, replayed, sessions }: SavingsEstimate): string {
  if (totals.requests === 0) return "These conversations report no usage.";
  const paid = `${formatQuantity(totals.requests, "request")}, ${formatCost(totals)}`;
  if (estimate === undefined) return `${paid}.`;
  const basis =
    replayed < sessions
      ? ` (from ${formatCount(replayed)} of ${formatCount(sessions)} conversations, evenly chosen)`
      : "";
  return `${paid}; under longhaul's policy an estimated ${formatDollars(Math.max(0, estimate))}${basis}.`;
}
