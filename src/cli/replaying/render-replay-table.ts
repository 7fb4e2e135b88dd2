import { formatCount, formatQuantity } from "../format-count.ts";
import { type Column, renderTable } from "../table.ts";
import type { TotalsWithEvidence } from "./evidence-totals.ts";

const FIGURE_TITLES = ["window", "cost", "ids", "lines", "sent", "peak", "edits/100", "dearest"];
const EVIDENCE_TITLES = ["evidence", "unpaged"];

/** Formats replay totals as a table; evidence columns appear only if questions were asked. */
export function renderReplayTable(
  totals: readonly TotalsWithEvidence[],
  look: Parameters<typeof renderTable>[2],
): string {
  const [first] = totals;
  if (!first) return "No conversation has enough requests.\n";
  const hasEvidence = totals.some(({ evidence }) => evidence !== undefined);
  const titles = [...FIGURE_TITLES, ...(hasEvidence ? EVIDENCE_TITLES : [])];
  const columns: readonly Column[] = [
    { title: "policy" },
    ...titles.map((title) => ({ title, align: "right" as const })),
  ];
  const rows = totals.map((one) => [
    one.policy,
    `${one.window / 1_000}k`,
    one.costShare.toFixed(3),
    `${(100 * one.identifiers).toFixed(1)}%`,
    `${(100 * one.lines).toFixed(1)}%`,
    `${formatCount(Math.round(one.sentTokens / 1_000))}k`,
    `${(one.peakTokens / 1_000).toFixed(1)}k`,
    ((100 * one.edits) / Math.max(1, one.requests)).toFixed(1),
    one.dearest.toFixed(2),
    ...(hasEvidence ? [formatPercent(one.evidence), formatPercent(one.unpaged)] : []),
  ]);
  const head = `${formatQuantity(first.sessions, "conversation")}, ${formatQuantity(first.requests, "request")}; cost relative to an unlimited window`;
  return `${[head, "", ...renderTable(columns, rows, look)].join("\n")}\n`;
}

function formatPercent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)}%`;
}
