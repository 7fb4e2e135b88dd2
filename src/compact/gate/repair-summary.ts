import { NOTHING, renderItem } from "../contract/render-summary.ts";
import { sanitizeLine } from "../contract/sanitize-summary.ts";
import { headingOf } from "../contract/sections.ts";
import type { SummarySections } from "../contract/summary-sections.ts";
import type { MissingContent } from "./summary-verdict.ts";

/**
 * Appends missing content to a summary: sections (from another summary if given), pending requests as quotes, and
 * identifiers. The result must be judged again.
 */
export function repairSummary(summary: string, missing: MissingContent, from?: SummarySections): string {
  const sections = missing.sections.flatMap((key) => {
    const items = from?.[key].filter(({ isQuoted }) => !isQuoted) ?? [];
    return [`## ${headingOf(key)}`, ...(items.length > 0 ? items.map(renderItem) : [NOTHING])];
  });
  const asks = missing.asks.length === 0 ? [] : [`## ${headingOf("asks")}`, ...missing.asks.map(renderAsk)];
  const identifiers =
    missing.identifiers.length === 0
      ? []
      : [`## ${headingOf("identifiers")}`, `- ${missing.identifiers.join(", ")}`];
  return [summary.trimEnd(), ...sections, ...asks, ...identifiers].join("\n");
}

function renderAsk(ask: string): string {
  return sanitizeLine(`- "${ask}"`);
}
