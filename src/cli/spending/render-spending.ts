import type { Savings, Totals } from "../../kernel/faces/window.ts";
import type { SizeSum } from "../../kernel/usage/size-sums.ts";
import type { NamedTotals } from "../../kernel/usage/usage-sums.ts";
import { formatCount, formatQuantity, formatShare } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { measureWidth } from "../terminal/width.ts";

type Figure = readonly [title: string, (totals: Totals) => string];

const REQUESTS: Figure = ["requests", ({ requests }) => formatCount(requests)];
const INPUT: Figure = ["↑ input", ({ inputTokens }) => formatCount(inputTokens)];
const OUTPUT: Figure = ["↓ output", ({ outputTokens }) => formatCount(outputTokens)];
const READ: Figure = ["cache read", ({ cacheReadTokens }) => formatCount(cacheReadTokens)];
const WRITTEN: Figure = ["cache write", ({ cacheWriteTokens }) => formatCount(cacheWriteTokens)];
const COST: Figure = ["cost", formatCost];

const BAR_COLUMNS = 16;

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
  {
    width,
    paint,
    bars = [],
  }: {
    readonly width: number;
    readonly paint: Paint;
    /** Rows whose cost is drawn as a bar. */
    readonly bars?: readonly NamedTotals[];
  },
): readonly string[] {
  const maxCost = Math.max(...bars.map(({ totals }) => totals.cost));
  const hasBars = bars.length > 1 && maxCost > 0;
  const tables = COLUMN_SETS.map((figures) => {
    const columns: readonly Column[] = [
      { title, shrinks: "first" },
      ...figures.map(([name]) => ({ title: name, align: "right" as const })),
      ...(hasBars ? [{ title: "", look: "cyan" as const }] : []),
    ];
    const cells = rows.map((row) => [
      row.name,
      ...figures.map(([, words]) => words(row.totals)),
      ...(hasBars ? [bars.includes(row) ? drawBar(row.totals.cost / maxCost) : ""] : []),
    ]);
    const plainly = renderTable(columns, cells, { width, paint: (_, text) => text });
    return { columns, cells, isFitting: plainly.every((line) => measureWidth(line) <= width) };
  });
  const chosen = tables.find(({ isFitting }) => isFitting) ?? tables.at(-1);
  return chosen ? renderTable(chosen.columns, chosen.cells, { width, paint }) : [];
}

/** Draws a share of the most expensive row, in eighths of a column. */
function drawBar(share: number): string {
  const eighths = Math.round(share * BAR_COLUMNS * 8);
  return "█".repeat(Math.floor(eighths / 8)) + ("▏▎▍▌▋▊▉"[(eighths % 8) - 1] ?? "");
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

/** One line for each size of conversations with savings: small ones cost the same as without edits. */
export function renderSizes(
  sizes: readonly Pick<SizeSum, "name" | "conversations" | "savings">[],
): readonly string[] {
  return sizes.flatMap(({ name, conversations, savings: { savedCost, withoutCost } }) => {
    if (withoutCost <= 0) return [];
    const ratio = ((withoutCost - savedCost) / withoutCost).toFixed(2);
    const change =
      savedCost < 0 ? `cost ${formatDollars(-savedCost)} more` : `saved ${formatDollars(savedCost)}`;
    return [
      `${name} tokens: ${formatQuantity(conversations, "conversation")}, ${change} of ${formatDollars(withoutCost)}, ${ratio} of the cost without edits`,
    ];
  });
}
