import { computeSavedDollars } from "../../window-entry.ts";
import type { ReplyReader } from "../../wire/wire.ts";
import type { Trace } from "../observe/trace.ts";
import type { ThreadCall } from "./thread-call.ts";

/** Records the edits of a request. */
export function traceCall(trace: Trace, { fitted, healed, request: callRequest }: ThreadCall): void {
  if (callRequest.isDryRun) trace.isDryRun = true;
  if (healed > 0) trace.healed = healed;
  if (!fitted) return;
  trace.tokensAfter = Math.round(fitted.tokens);
  const receipt = fitted.plan?.receipt;
  if (!receipt) return;
  trace.isPlanned = true;
  if (callRequest.isDryRun) {
    trace.tokensBefore = Math.round(receipt.tokens.without);
    trace.tokensAfter = Math.round(receipt.tokens.with);
  }
  trace.savedDollars = computeSavedDollars(fitted, 0);
}

/**
 * Records the sizes of a body and the savings. Estimates the original tokens by assuming the same token density
 * throughout.
 */
export function traceBody(
  trace: Trace,
  { fitted }: Pick<ThreadCall, "fitted">,
  cameBytes: number,
  sentBytes: number,
): void {
  trace.bytesIn = cameBytes;
  if (trace.tokensAfter === undefined || trace.isDryRun) return;
  trace.tokensBefore = Math.round((trace.tokensAfter * cameBytes) / Math.max(1, sentBytes));
  if (fitted) trace.savedDollars = computeSavedDollars(fitted, trace.tokensBefore - trace.tokensAfter);
}

/** Records the reply. */
export function traceReply(trace: Trace, reader: ReplyReader): void {
  if (reader.usage) trace.usage = reader.usage;
  if (reader.model !== undefined) trace.responseModel = reader.model;
  if (reader.responseId !== undefined) trace.responseId = reader.responseId;
  if (reader.stopReason !== undefined) trace.stopReason = reader.stopReason;
}
