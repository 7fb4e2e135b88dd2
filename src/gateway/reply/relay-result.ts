import type { Exchange, ReplyRelay } from "../exchange/exchange-state.ts";
import { hideStreamUsage } from "../request/stream-usage.ts";
import { createSummaryInserter, findNewSummary, type SummaryInserter } from "./answer-with-summary.ts";
import { findAppliedEdits, withAppliedEdits } from "./applied-edits.ts";
import { createReplyNamer } from "./name-reply.ts";
import { settleSpending } from "./record-reply.ts";
import { relayReply, sendWholeBody } from "./relay/relay-reply.ts";
import type { UpstreamResult } from "./relay/upstream-refusal.ts";
import { CallRounds } from "./rounds/call-rounds.ts";
import { createMergedReader } from "./rounds/merged-reader.ts";
import { relayRounds } from "./rounds/relay-rounds.ts";

/** Relays the final response of an upstream, and records the reply if there is one. */
export async function relayResult(exchange: Exchange, result: UpstreamResult): Promise<void> {
  const { incoming, services, trace, request, call, recall } = exchange;
  const { response, refusal } = result;
  if (refusal?.raw) {
    trace.status = response.status;
    trace.ending = "refused";
    exchange.failure = refusal.failure;
    sendWholeBody(incoming.response, response, refusal.raw);
    return;
  }
  const hasRounds = recall?.hasTools || recall?.servesMemory;
  const rounds = hasRounds ? new CallRounds(exchange, recall) : undefined;
  const reader = rounds && createMergedReader(request.api, services.kernel, rounds);
  call.overheadMs = trace.overheadMs;
  const recorder = call.createRecorder(reader, {
    name: createReplyNamer(exchange),
    onReported: () => settleSpending(exchange),
  });
  const reply = await prepareReply(exchange, recorder);
  exchange.reply = reply;
  if (rounds) await relayRounds(exchange, reply, response, rounds);
  else await relayReply(exchange, reply, response);
}

/** The changes to a reply: the usage that the client may see, and the edits and the summary that it asked for. */
async function prepareReply(
  { incoming, services, target, thread, call, recall, asksUsage }: Exchange,
  recorder: ReplyRelay["recorder"],
): Promise<ReplyRelay> {
  // Edits and additions must not make a client believe that its own window is full.
  const isChanged = call.isEditable || recall !== undefined;
  const maxTokens = isChanged ? services.modelLimits.getClientWindow(target) : undefined;
  const text = findNewSummary(call);
  const { last } = call;
  const isShown = text !== undefined && last !== undefined;
  // The summary is stored before the client gets it.
  if (isShown) await services.compactions.store(incoming.principal, text, thread, last);
  const summary = isShown ? createSummaryInserter(text) : undefined;
  return {
    recorder,
    maxTokens,
    change: asksUsage ? hideStreamUsage : createEditReporter(call, summary),
    eventsAfter: summary?.eventsAfter,
  };
}

/** Adds the report that the client asked for to the reply: the edits made, and the summary if there is one. */
function createEditReporter(
  { request: { api, edits, isDryRun }, fitted }: Exchange["call"],
  summary: SummaryInserter | undefined,
): ReplyRelay["change"] {
  if (!edits || isDryRun) return undefined;
  const applied = findAppliedEdits(edits, fitted?.slots ?? []);
  return (data) => {
    const changed = summary?.change(data);
    return withAppliedEdits(api.name, changed ?? data, applied) ?? changed;
  };
}
