import type { RequestUsage } from "../../conversation/spending/request-usage.ts";
import { escapeLine } from "../escape.ts";
import { formatCount } from "../format-count.ts";
import { formatTime } from "../format-time.ts";
import { fitText, padText } from "../width.ts";
import { formatCost } from "./render-spending.ts";

const MODEL_WIDTH = 26;

/**
 * Formats one request on one line. Column widths are fixed, because lines are printed before all requests are known.
 */
export function formatRequestUsage(
  { at, model = "", totals, session }: RequestUsage,
  isOfMany: boolean,
): string {
  const cells = [
    formatTime(at),
    padText(fitText(escapeLine(model), MODEL_WIDTH), MODEL_WIDTH),
    `↑ ${padText(formatCount(totals.inputTokens), 9, "right")}`,
    `↓ ${padText(formatCount(totals.outputTokens), 8, "right")}`,
    `read ${padText(formatCount(totals.cacheReadTokens), 9, "right")}`,
    `write ${padText(formatCount(totals.cacheWriteTokens), 9, "right")}`,
    padText(formatCost(totals), 9, "right"),
    ...(isOfMany ? [escapeLine(session)] : []),
  ];
  return cells.join("  ");
}
