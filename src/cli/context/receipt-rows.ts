import type { Compared, Receipt } from "../../index.ts";
import { countOf, formatCount } from "../count.ts";
import { formatDollars } from "../dollars.ts";
import { formatChange } from "../tokens.ts";
import type { Row } from "./rows.ts";

const NAMED = 6;

/** Formats a receipt for people; figures are without the edit → with it. */
export function receiptRows(receipt: Receipt, isFull: boolean): readonly Row[] {
  const { tokens, cachedShare, thisCall, nextCalls, cache } = receipt;
  const assumed = receipt.arePricesAssumed ? " (assumed prices)" : "";
  return [
    ["size", formatChange(tokens.without, tokens.with)],
    ["cached", `${compared(cachedShare, (share) => `${Math.round(100 * share)}%`)} (cache ${cache})`],
    ["this call", `${compared(thisCall, formatDollars)}${assumed}`],
    ["next calls", `${compared(nextCalls, formatDollars)} each, while the cache is hot`],
    ["break-even", breakEvenWords(receipt)],
    ["removed", cutWords(receipt, isFull)],
  ];
}

function compared(figures: Compared, words: (figure: number) => string): string {
  return `${words(figures.without)} → ${words(figures.with)}`;
}

function breakEvenWords({ breakEvenCalls, expectedCalls }: Receipt): string {
  const expected = `; ${formatCount(Math.round(expectedCalls))} more expected`;
  if (breakEvenCalls === null) return `never${expected}`;
  return `${breakEvenCalls === 0 ? "immediately" : `after ${countOf(breakEvenCalls, "more call")}`}${expected}`;
}

function cutWords({ left }: Receipt, isFull: boolean): string {
  const { entries, identifiers, named } = left;
  const counts = `${countOf(entries, "message")}, ${countOf(identifiers, "name")}`;
  if (named.length === 0) return counts;
  const shown = isFull ? named : named.slice(0, NAMED);
  return `${counts}: ${shown.join(", ")}${identifiers > shown.length ? ", …" : ""}`;
}
