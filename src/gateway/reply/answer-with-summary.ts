import type { Exchange } from "../exchange/exchange-state.ts";
import { findAppliedEdits } from "./applied-edits.ts";
import { findNewSummary } from "./find-new-summary.ts";
import { countForLoops } from "./record-reply.ts";
import { encodeSummaryReply, encodeSummaryReplyStream } from "./summary-reply.ts";

/**
 * Answers a client that wants to inspect a new summary first with the summary alone; true if it did. No upstream is
 * called and no reply is stored, because there is none.
 */
export async function answerWithSummary(exchange: Exchange): Promise<boolean> {
  const { incoming, services, trace, request, thread, call } = exchange;
  const { request: callRequest, fitted, last } = call;
  const { fields } = request;
  const { principal, response } = incoming;
  const isPausing = callRequest.edits?.some((edit) => edit.type === "compact_20260112" && edit.pausesAfter);
  const text = isPausing ? findNewSummary(call) : undefined;
  if (text === undefined || last === undefined || !callRequest.edits) return false;
  await services.compactions.store(principal, text, thread, last);
  const applied = findAppliedEdits(callRequest.edits, fitted?.slots ?? []);
  const reply = { text, model: fields.model ?? callRequest.frame.model, applied };
  const body = Buffer.from(fields.isStreamed ? encodeSummaryReplyStream(reply) : encodeSummaryReply(reply));
  trace.status = 200;
  trace.ending = "complete";
  trace.stopReason = "compaction";
  trace.bytesOut = body.length;
  response.writeHead(200, {
    "content-type": fields.isStreamed ? "text/event-stream; charset=utf-8" : "application/json",
    ...(fields.isStreamed && { "cache-control": "no-cache" }),
    "content-length": body.length,
  });
  response.end(body);
  countForLoops(exchange, performance.now());
  return true;
}
