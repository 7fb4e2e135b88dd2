import type { Receipt } from "../../index.ts";
import type { Comparison } from "../../window-entry.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { formatTokenChange } from "../tokens.ts";
import type { LabeledRow } from "./labeled-row.ts";

const MAX_NAMED = 6;

/** Formats a receipt for people; figures are without the edit → with it. */
export function buildReceiptRows(receipt: Receipt, isFull: boolean): readonly LabeledRow[] {
  const { tokens, cachedShare, thisCall, nextCalls, cache } = receipt;
  const assumed = receipt.arePricesAssumed ? " (assumed prices)" : "";
  return [
    ["size", formatTokenChange(tokens.without, tokens.with)],
    ["cached", `${formatCompared(cachedShare, (share) => `${Math.round(100 * share)}%`)} (cache ${cache})`],
    ["this call", `${formatCompared(thisCall, formatDollars)}, estimated${assumed}`],
    ["next calls", `${formatCompared(nextCalls, formatDollars)} each, estimated, while the cache is hot`],
    ["break-even", formatBreakEven(receipt)],
    ["removed", formatCut(receipt, isFull)],
  ];
}

function formatCompared(figures: Comparison, words: (figure: number) => string): string {
  return `${words(figures.without)} → ${words(figures.with)}`;
}

function formatBreakEven({ breakEvenCalls, expectedCalls }: Receipt): string {
  const expected = `; ${formatCount(Math.round(expectedCalls))} more expected`;
  if (breakEvenCalls === null) return `never${expected}`;
  return `${breakEvenCalls === 0 ? "immediately" : `after ${formatQuantity(breakEvenCalls, "more call")}`}${expected}`;
}

function formatCut({ left }: Receipt, isFull: boolean): string {
  const { entries, identifiers, named } = left;
  const counts = `${formatQuantity(entries, "message")}, ${formatQuantity(identifiers, "name")}`;
  if (named.length === 0) return counts;
  const shown = isFull ? named : named.slice(0, MAX_NAMED);
  return `${counts}: ${shown.join(", ")}${identifiers > shown.length ? ", …" : ""}`;
}
