import { countClearedContent } from "../../window-entry.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { buildSummaryKey } from "../request/client-summary-text.ts";

/**
 * The summary in the window of a call that its client requested and has not received yet; undefined if there is none.
 */
export function findNewSummary({
  request: asked,
  fitted,
  pieces,
  violations,
}: ThreadCall): string | undefined {
  const { api, edits = [], isDryRun, compactions } = asked;
  const isWanted = api.name === "anthropic" && edits.some(({ type }) => type === "compact_20260112");
  // The edited window was not sent, so it contains no summary.
  if (!isWanted || isDryRun || !fitted || !pieces || violations.length > 0) return undefined;
  const { summary } = countClearedContent(fitted.slots);
  const said = compactions?.last?.text;
  const isSaid =
    summary !== undefined && said !== undefined && buildSummaryKey(said) === buildSummaryKey(summary);
  return isSaid ? undefined : summary;
}
