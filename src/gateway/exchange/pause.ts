import { pausedBody, pausedStream } from "../compaction/paused-reply.ts";
import { summaryToTell } from "../compaction/summary-to-tell.ts";
import { appliedEdits } from "../edits/applied-edits.ts";
import type { Call } from "../thread/call.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";
import type { ReadRequest } from "./read-request.ts";

/**
 * Answers a client that wants to inspect a new summary first with the summary alone; true if it did. No upstream is
 * called and no reply is stored, because there is none.
 */
export async function pause(
  { response, principal, trace }: Admitted,
  { compactions }: Pick<ExchangeParts, "compactions">,
  { fields }: Pick<ReadRequest, "fields">,
  call: Call,
): Promise<boolean> {
  const { asked, thread, fitted, last } = call;
  const isPausing = asked.edits?.some((edit) => edit.type === "compact_20260112" && edit.pausesAfter);
  const text = isPausing ? summaryToTell(call) : undefined;
  if (text === undefined || last === undefined || !asked.edits) return false;
  await compactions.tell(principal.id, text, thread, last);
  const applied = appliedEdits(asked.edits, fitted?.slots ?? []);
  const reply = { text, model: fields.model ?? asked.frame.model, applied };
  const body = Buffer.from(fields.isStreamed ? pausedStream(reply) : pausedBody(reply));
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
  return true;
}
