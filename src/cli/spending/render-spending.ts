import type { Totals } from "../../window-entry.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import type { Paint } from "../paint.ts";
import { type Column, renderTable } from "../table.ts";
import { measureWidth } from "../width.ts";
import type { NamedTotals } from "./usage-sums.ts";

type Figure = readonly [title: string, (totals: Totals) => string];

const REQUESTS: Figure = ["requests", ({ requests }) => formatCount(requests)];
const INPUT: Figure = ["↑ input", ({ inputTokens }) => formatCount(inputTokens)];
const OUTPUT: Figure = ["↓ output", ({ outputTokens }) => formatCount(outputTokens)];
const READ: Figure = ["cache read", ({ cacheReadTokens }) => formatCount(cacheReadTokens)];
const WRITTEN: Figure = ["cache write", ({ cacheWriteTokens }) => formatCount(cacheWriteTokens)];
const COST: Figure = ["cost", formatCost];

/** Column sets from complete to minimal, for narrow terminals. */
const COLUMN_SETS: readonly (readonly Figure[])[] = [
  [REQUESTS, INPUT, OUTPUT, READ, WRITTEN, COST],
  [INPUT, OUTPUT, READ, WRITTEN, COST],
  [INPUT, OUTPUT, COST],
  [COST],
];

/** Formats usage totals as a table, with the most columns that fit the terminal. */
export function renderSpending(
  title: string,
  rows: readonly NamedTotals[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  const tables = COLUMN_SETS.map((figures) => {
    const columns: readonly Column[] = [
      { title, shrinks: "first" },
      ...figures.map(([name]) => ({ title: name, align: "right" as const })),
    ];
    const cells = rows.map(({ name, totals }) => [name, ...figures.map(([, words]) => words(totals))]);
    const plainly = renderTable(columns, cells, { width, paint: (_, text) => text });
    return { columns, cells, isFitting: plainly.every((line) => measureWidth(line) <= width) };
  });
  const chosen = tables.find(({ isFitting }) => isFitting) ?? tables.at(-1);
  return chosen ? renderTable(chosen.columns, chosen.cells, { width, paint }) : [];
}

/** Notes the number of requests without a known price; empty if there are none. */
export function renderUnpricedNote({ unpricedRequests }: Totals): readonly string[] {
  if (unpricedRequests === 0) return [];
  return [`cost excludes ${formatQuantity(unpricedRequests, "request")} without a known price`];
}

/** Formats the cost, with a "+" if part of it is unknown. */
export function formatCost({ cost, requests, unpricedRequests }: Totals): string {
  if (requests > 0 && unpricedRequests === requests) return "?";
  return `${formatDollars(cost)}${unpricedRequests > 0 ? "+" : ""}`;
}
