import { formatTime } from "../ago.ts";
import { formatCount } from "../count.ts";
import { escapeLine } from "../escape.ts";
import { fitTo, padTo } from "../width.ts";
import { costWords } from "./spending-table.ts";
import type { SpentRequest } from "./spent-requests.ts";

const MODEL_WIDTH = 26;

/**
 * Formats one request on one line. Column widths are fixed, because lines are printed before all requests are known.
 */
export function requestLine({ at, model = "", totals, session }: SpentRequest, isOfMany: boolean): string {
  const cells = [
    formatTime(at),
    padTo(fitTo(escapeLine(model), MODEL_WIDTH), MODEL_WIDTH),
    `↑ ${padTo(formatCount(totals.inputTokens), 9, "right")}`,
    `↓ ${padTo(formatCount(totals.outputTokens), 8, "right")}`,
    `read ${padTo(formatCount(totals.cacheReadTokens), 9, "right")}`,
    `write ${padTo(formatCount(totals.cacheWriteTokens), 9, "right")}`,
    padTo(costWords(totals), 9, "right"),
    ...(isOfMany ? [escapeLine(session)] : []),
  ];
  return cells.join("  ");
}
