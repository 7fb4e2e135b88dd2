import { countClearedContent } from "../../window-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { buildSummaryKey } from "../request/client-summary-text.ts";

/**
 * The summary in the window of a call that its client requested and has not received yet; undefined if there is none.
 */
export function findNewSummary({
  request: callRequest,
  fitted,
  pieces,
  violations,
}: ThreadCall): string | undefined {
  const { api, edits = [], isDryRun, compactions } = callRequest;
  const isWanted = api.name === "anthropic" && edits.some(({ type }) => type === "compact_20260112");
  // The edited window was not sent, so it contains no summary.
  if (!isWanted || isDryRun || !fitted || !pieces || violations.length > 0) return undefined;
  const { summary } = countClearedContent(fitted.slots);
  const known = compactions?.last?.text;
  const isKnown =
    summary !== undefined && known !== undefined && buildSummaryKey(known) === buildSummaryKey(summary);
  return isKnown ? undefined : summary;
}
