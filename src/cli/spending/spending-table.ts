import type { Totals } from "../../index.ts";
import { countOf, formatCount } from "../count.ts";
import { formatDollars } from "../dollars.ts";
import type { Paint } from "../paint.ts";
import { type Column, tableLines } from "../table.ts";
import { widthOf } from "../width.ts";
import type { NamedTotals } from "./books.ts";

type Figure = readonly [title: string, (totals: Totals) => string];

const REQUESTS: Figure = ["requests", ({ requests }) => formatCount(requests)];
const INPUT: Figure = ["↑ input", ({ inputTokens }) => formatCount(inputTokens)];
const OUTPUT: Figure = ["↓ output", ({ outputTokens }) => formatCount(outputTokens)];
const READ: Figure = ["cache read", ({ cacheReadTokens }) => formatCount(cacheReadTokens)];
const WRITTEN: Figure = ["cache write", ({ cacheWriteTokens }) => formatCount(cacheWriteTokens)];
const COST: Figure = ["cost", costWords];

/** From all there is to tell to what matters most, for narrow terminals. */
const CHOICES: readonly (readonly Figure[])[] = [
  [REQUESTS, INPUT, OUTPUT, READ, WRITTEN, COST],
  [INPUT, OUTPUT, READ, WRITTEN, COST],
  [INPUT, OUTPUT, COST],
  [COST],
];

/** A table of what was used, with as many columns as the terminal has room for. */
export function spendingLines(
  title: string,
  rows: readonly NamedTotals[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  const tables = CHOICES.map((figures) => {
    const columns: readonly Column[] = [
      { title, shrinks: "first" },
      ...figures.map(([name]) => ({ title: name, align: "right" as const })),
    ];
    const cells = rows.map(({ name, totals }) => [name, ...figures.map(([, words]) => words(totals))]);
    const plainly = tableLines(columns, cells, { width, paint: (_, text) => text });
    return { columns, cells, isFitting: plainly.every((line) => widthOf(line) <= width) };
  });
  const chosen = tables.find(({ isFitting }) => isFitting) ?? tables.at(-1);
  return chosen ? tableLines(chosen.columns, chosen.cells, { width, paint }) : [];
}

/** What the costs leave out; nothing if they leave out nothing. */
export function unpricedLines({ unpricedRequests }: Totals): readonly string[] {
  if (unpricedRequests === 0) return [];
  return [`cost is without ${countOf(unpricedRequests, "request")} whose price is not known`];
}

/** The cost, with a + where some of it is not known. */
export function costWords({ cost, requests, unpricedRequests }: Totals): string {
  if (requests > 0 && unpricedRequests === requests) return "?";
  return `${formatDollars(cost)}${unpricedRequests > 0 ? "+" : ""}`;
}
