import type { Totals } from "../../window-entry.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { formatCost } from "../spending/render-spending.ts";
import { type Column, renderTable } from "../table.ts";
import { wrapText } from "../wrap-text.ts";
import type { TotalsWithEvidence } from "./evidence-totals.ts";

const FIGURE_TITLES = [
  ...["window", "cost", "+refetch", "texts", "paths", "ids", "lines"],
  ...["sent", "peak", "edits/100", "dearest"],
];
const EVIDENCE_TITLES = ["evidence", "unpaged"];

/** Formats replay totals as a table; evidence columns appear only if questions were asked. */
export function renderReplayTable(
  totals: readonly TotalsWithEvidence[],
  recorded: Totals,
  look: Parameters<typeof renderTable>[2],
): string {
  const [first] = totals;
  if (!first) return "No conversation has enough requests.\n";
  const hasEvidence = totals.some(({ evidence }) => evidence !== undefined);
  const hasDollars = totals.some(({ unboundedDollars }) => unboundedDollars > 0);
  const [windowTitle = "", ...figures] = FIGURE_TITLES;
  const titles = [
    windowTitle,
    ...(hasDollars ? ["dollars"] : []),
    ...figures,
    ...(hasEvidence ? EVIDENCE_TITLES : []),
  ];
  const cheapest = findCheapest(totals);
  const columns: readonly Column[] = [
    { title: "policy" },
    ...titles.map((title) => ({ title, align: "right" as const })),
  ];
  const rows = totals.map((one) => [
    `${one.policy}${cheapest.has(one) ? " ✓" : ""}`,
    `${one.window / 1_000}k`,
    ...(hasDollars ? [formatDollars(one.dollars)] : []),
    one.costShare.toFixed(3),
    one.fullCostShare.toFixed(3),
    ...[one.editTexts, one.paths, one.identifiers, one.lines].map(formatPercent),
    `${formatCount(Math.round(one.sentTokens / 1_000))}k`,
    `${(one.peakTokens / 1_000).toFixed(1)}k`,
    ((100 * one.edits) / Math.max(1, one.requests)).toFixed(1),
    one.dearest.toFixed(2),
    ...(hasEvidence ? [formatPercent(one.evidence), formatPercent(one.unpaged)] : []),
  ]);
  const head = `${formatQuantity(first.sessions, "conversation")}, ${formatQuantity(first.requests, "request")}; cost relative to an unlimited window`;
  const verdict = [describeCheapest(totals), ...describeRecorded(recorded)].flatMap((text) =>
    wrapText(text, look.width),
  );
  return `${[head, "", ...renderTable(columns, rows, look), "", ...verdict].join("\n")}\n`;
}

/** The cheapest policy of each window; empty if there is nothing to compare. */
function findCheapest(totals: readonly TotalsWithEvidence[]): ReadonlySet<TotalsWithEvidence> {
  const byWindow = [...Map.groupBy(totals, ({ window }) => window).values()];
  return new Set(
    byWindow.flatMap((rows) =>
      rows.length < 2 ? [] : [rows.reduce((best, one) => (one.cost < best.cost ? one : best))],
    ),
  );
}

/** Says in one sentence which policy costs least in the largest window, and how much of the references it keeps. */
function describeCheapest(totals: readonly TotalsWithEvidence[]): string {
  const largest = Math.max(...totals.map(({ window }) => window));
  const rows = totals.filter(({ window }) => window === largest);
  const best = rows.reduce((one, other) => (other.cost < one.cost ? other : one));
  const { policy, dollars, unboundedDollars, costShare, identifiers, unpricedSessions } = best;
  const saved = `${Math.abs(Math.round(100 * (1 - costShare)))}% ${costShare <= 1 ? "less" : "more"}`;
  // Dollars and shares are of different conversations if some have no price.
  const others = unpricedSessions > 0 ? " for those with a known price, and in tokens " : ", ";
  const money =
    unboundedDollars > 0
      ? `${formatDollars(dollars)} instead of ${formatDollars(unboundedDollars)}${others}`
      : "";
  const lead = rows.length > 1 ? `${policy} costs least` : `${policy} costs`;
  const unpriced =
    unpricedSessions > 0 && unboundedDollars > 0
      ? ` Dollars exclude ${formatQuantity(unpricedSessions, "conversation")} without a known price.`
      : "";
  const refetched = `${Math.abs(Math.round(100 * (1 - best.fullCostShare)))}% ${best.fullCostShare <= 1 ? "less" : "more"}`;
  return `In a window of ${largest / 1_000}k, ${lead}: ${money}${saved} than an unlimited window (${refetched} including the cost of fetching lost content again), with ${Number((100 * identifiers).toFixed(1))}% of the names that the agent used next still there.${unpriced}`;
}

/** The reported usage of the replayed conversations, to compare the estimates with. */
function describeRecorded(recorded: Totals): readonly string[] {
  if (recorded.requests === 0) return [];
  return [
    `Measured: providers reported ${formatQuantity(recorded.requests, "request")} for these conversations, ${formatCost(recorded)}. All other figures are estimated.`,
  ];
}

function formatPercent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)}%`;
}
