import { readCacheRecord } from "../../conversation/cache/cache-record.ts";
import { computeMissDollars } from "../../conversation/cache/cache-report.ts";
import { computeReportCost, computeSavings, type ModelFactsLookup } from "../../window-entry.ts";
import type { ReplyReader } from "../../wire/wire.ts";
import type { Trace } from "../observe/trace.ts";
import type { ThreadCall } from "./thread-call.ts";

/** Records the sizes of a request without and with edits. A dry run sends the request without them. */
export function traceCall(trace: Trace, { fitted, healed, request: callRequest }: ThreadCall): void {
  if (callRequest.isDryRun) trace.isDryRun = true;
  if (healed > 0) trace.healed = healed;
  if (!fitted) return;
  trace.tokensBefore = Math.round(fitted.uneditedTokens);
  trace.tokensAfter = Math.round(fitted.tokens);
  if (fitted.defect !== undefined) trace.defect = fitted.defect;
  if (fitted.plan) trace.isPlanned = true;
}

/** Records the reply, its cost, and the savings of edits. */
export function traceReply(
  trace: Trace,
  reader: ReplyReader,
  { reported }: Pick<ThreadCall, "reported">,
  factsOf: ModelFactsLookup,
): void {
  if (reader.usage) trace.usage = reader.usage;
  if (reported) {
    const spentDollars = computeReportCost(reported, factsOf);
    if (spentDollars !== undefined) trace.spentDollars = spentDollars;
    const savings = computeSavings(reported, factsOf);
    if (savings.requests > 0) trace.savings = savings;
    const record = readCacheRecord(reported);
    if (record) {
      const { state, cause, missedTokens } = record;
      const missDollars = computeMissDollars(reported, missedTokens, factsOf);
      trace.cache = { verdict: cause ?? state, missedTokens, missDollars };
    }
  }
  if (reader.model !== undefined) trace.responseModel = reader.model;
  if (reader.responseId !== undefined) trace.responseId = reader.responseId;
  if (reader.stopReason !== undefined) trace.stopReason = reader.stopReason;
}
