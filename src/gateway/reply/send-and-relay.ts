import { detectOutputOverflow, detectOverflow, type Overflow, type ProviderFailure } from "../../index.ts";
import type { Api, WireObject } from "../api/api.ts";
import type { ReplyRecorder } from "../call/reply-recorder.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { traceBody, traceCall } from "../call/trace-call.ts";
import type { Incoming, Services } from "../exchange/services.ts";
import { getLoopFamily } from "../loops/loop-family.ts";
import type { CallSpan } from "../observe/spans.ts";
import { type BodyChanges, buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { listPieceElements } from "../outgoing/outgoing-pieces.ts";
import { countBytes, isSameBody } from "../outgoing/splice-body.ts";
import type { RequestRecall } from "../recall/recall-turn.ts";
import { CHAIN_FIELDS } from "../request/chain.ts";
import { CONTEXT_MANAGEMENT } from "../request/context-edit.ts";
import { lowerOutputFields } from "../request/output-fields.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import { sendRequest } from "../upstream/send-request.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";
import type { Target } from "../upstream/target.ts";
import { findAppliedEdits, withAppliedEdits } from "./applied-edits.ts";
import { findNewSummary } from "./find-new-summary.ts";
import { createReplyNamer } from "./name-reply.ts";
import { relayReply, sendWholeBody } from "./relay/relay-reply.ts";
import { findRefusal, type UpstreamResult } from "./relay/upstream-refusal.ts";
import { CallRounds } from "./rounds/call-rounds.ts";
import { createMergedReader } from "./rounds/merged-reader.ts";
import { relayRounds } from "./rounds/relay-rounds.ts";
import { createSummaryInserter, type SummaryInserter } from "./summary-inserter.ts";

/** Shorter requests do not overflow the window of any provider that streams its errors. */
const LONG_BYTES = 32 * 1_024;

/** A call on its way to an upstream. */
export interface OutboundCall {
  readonly api: Api;
  readonly request: ParsedRequest;
  readonly destination: Target;
  readonly call: ThreadCall;
  readonly recall: RequestRecall | undefined;
  readonly span: CallSpan | undefined;
}

/** Sends a call until it is answered, and relays the response; returns the recorder of the reply, if there was one. */
export async function sendAndRelay(
  incoming: Incoming,
  services: Services,
  exchange: OutboundCall,
): Promise<ReplyRecorder | undefined> {
  const { api, destination: target, call, recall } = exchange;
  const learned = services.modelLimits.getLearned(target);
  const { response: answer, refusal } = await sendUntilAccepted(incoming, services, exchange);
  if (refusal && detectOverflow(refusal.failure)) {
    recordOverflow(services, call);
    services.modelLimits.restoreLearned(target, learned);
  }
  if (refusal?.raw) {
    incoming.trace.status = answer.status;
    incoming.trace.ending = "refused";
    sendWholeBody(incoming.response, answer, refusal.raw);
    return undefined;
  }
  const sendAgain = (elements: readonly WireObject[]) =>
    sendUntilAccepted(incoming, services, exchange, elements);
  const rounds = recall?.hasTools
    ? new CallRounds(incoming, services, { call, recall, sendAgain })
    : undefined;
  const reader = rounds && createMergedReader(api, services.kernel, rounds);
  const name = createReplyNamer(incoming.principal.id, services, exchange.request, call);
  const recorder = call.createRecorder(reader, name);
  // Edits and additions must not make a client believe that its own window is full.
  const isOurs = canEdit(call) || recall !== undefined;
  const maxTokens = isOurs ? services.modelLimits.getClientWindow(target) : undefined;
  const summary = await prepareSummary(incoming, services, call);
  const settings = {
    api,
    recorder,
    maxTokens,
    change: createEditReporter(call, summary),
    eventsAfter: summary?.eventsAfter,
  };
  if (rounds) await relayRounds(incoming, services, answer, settings, rounds);
  else await relayReply(incoming, services, answer, settings);
  return recorder;
}

/** Sends a request, with the `elements` of a later round appended, until it is answered or cannot be repaired. */
async function sendUntilAccepted(
  incoming: Incoming,
  services: Services,
  exchange: OutboundCall,
  elements?: readonly WireObject[],
): Promise<UpstreamResult> {
  const { api, call, recall } = exchange;
  let body = buildBody(exchange, elements);
  for (;;) {
    if (!elements) call.setExtraTokens(recall?.countTokens() ?? 0);
    const { answered: answer, isLong } = await sendOnce(
      incoming,
      services,
      exchange,
      body,
      elements !== undefined,
    );
    const isWatched = canEdit(call) || recall !== undefined;
    const { config } = services;
    const refusal = isWatched ? await findRefusal(api, answer, incoming, { config, isLong }) : undefined;
    if (!refusal) return { response: answer };
    if (!(await repairRequest(incoming, services, exchange, refusal.failure, elements)))
      return { response: answer, refusal };
    const refused = body;
    body = buildBody(exchange, elements);
    // The provider would give the same reply to the same bytes.
    if (isSameBody(refused, body)) return { response: answer, refusal };
    answer.body.destroy();
  }
}

function buildBody(
  exchange: OutboundCall,
  elements: readonly WireObject[] | undefined,
): readonly Uint8Array[] {
  const changes = buildChanges(exchange);
  return buildOutgoingBody(exchange.request.messages, exchange.recall?.addTo(changes, elements) ?? changes);
}

/** Records an overflow that reaches the client, so that it is not repaired again and a looping client is stopped. */
function recordOverflow({ loops }: Services, { thread, request: callRequest }: ThreadCall): void {
  thread.hopeless.record(callRequest);
  loops.recordOverflow(getLoopFamily(thread.session.id));
}

async function sendOnce(
  incoming: Incoming,
  services: Services,
  exchange: OutboundCall,
  body: readonly Uint8Array[],
  isLaterRound: boolean,
): Promise<{ readonly answered: UpstreamResponse; readonly isLong: boolean }> {
  const { request: read, destination: target, call, span } = exchange;
  const isSame = body[0] === read.messages.cut.bytes;
  const cameBytes = incoming.body.length;
  // Content sent in place of the provider's stored messages was never part of the client's body.
  if (!isLaterRound) traceBody(incoming.trace, cameBytes, call.isFromLog ? cameBytes : countBytes(body));
  const whole = isSame && !canEdit(call) ? [incoming.raw] : body;
  const isEdited = !isSame || canEdit(call);
  const sent = { upstream: target.upstream, body: whole, isEdited, span };
  const isLong = call.request.chain !== undefined || countBytes(body) > LONG_BYTES;
  return { answered: await sendRequest(incoming, services, sent), isLong };
}

/** True if another request must be tried: one without the gateway's additions, or one with a different window. */
async function repairRequest(
  { trace }: Incoming,
  { modelLimits: rooms, config }: Services,
  { call, destination: target, recall }: OutboundCall,
  failure: ProviderFailure,
  elements: readonly WireObject[] | undefined,
): Promise<boolean> {
  const detected = detectOverflow(failure) ?? detectOutputOverflow(failure);
  const overflow = detected && call.checkOverflow(detected);
  if (overflow?.limitTokens !== undefined) rooms.learn(target, overflow.limitTokens);
  // The client's messages must not be cut for content that it did not ask for.
  if (overflow && !isOutputOverflow(overflow) && !elements && recall?.drop()) return true;
  if (elements) call.setExtraTokens(recall?.countTokens(elements) ?? 0);
  if (await call.repair(failure, rooms.getLimits(target, config().threshold))) {
    if (call.fitted?.maxOutputTokens !== undefined) rooms.learnOutputCounts(target);
    traceCall(trace, call);
    return true;
  }
  if (elements) call.setExtraTokens(recall?.countTokens() ?? 0);
  return false;
}

/** True if the messages alone would fit, according to the provider. */
function isOutputOverflow({ limitTokens, requestedTokens, outputTokens }: Overflow): boolean {
  if (limitTokens === undefined || outputTokens === undefined) return false;
  return (requestedTokens ?? outputTokens) - outputTokens < limitTokens;
}

/** True if the gateway may change the window of a call. */
function canEdit({ request: callRequest }: ThreadCall): boolean {
  return callRequest.policy !== "none" && !callRequest.isDryRun;
}

/** Adds the report that the client asked for to the reply: the edits made, and the summary if there is one. */
function createEditReporter(
  { request: callRequest, fitted }: ThreadCall,
  summary: SummaryInserter | undefined,
): ((data: string) => string | undefined) | undefined {
  if (!callRequest.edits || callRequest.isDryRun) return undefined;
  const applied = findAppliedEdits(callRequest.edits, fitted?.slots ?? []);
  return (data) => {
    const changed = summary?.change(data);
    return withAppliedEdits(callRequest.api.name, changed ?? data, applied) ?? changed;
  };
}

/** The summary to insert before the reply; stored before the client gets it. */
async function prepareSummary(
  { principal }: Incoming,
  { compactions }: Services,
  call: ThreadCall,
): Promise<SummaryInserter | undefined> {
  const { thread, last } = call;
  const text = findNewSummary(call);
  if (text === undefined || last === undefined) return undefined;
  await compactions.store(principal.id, text, thread, last);
  return createSummaryInserter(text);
}

/** Changes to apply to the request body. */
function buildChanges({ request: read, destination: target, call }: OutboundCall): BodyChanges {
  const { model, clientModel } = target;
  const { pieces, isFromLog, request: callRequest } = call;
  const { api, messages } = callRequest;
  const fields = new Map<string, unknown>();
  if (model !== clientModel) fields.set("model", model);
  const { maxOutputTokens } = call;
  if (maxOutputTokens !== undefined && canEdit(call))
    for (const [name, value] of lowerOutputFields(read.fields.all, maxOutputTokens)) fields.set(name, value);
  // A plain text becomes a list if more messages are sent.
  if (isFromLog && messages.cut.listFrom === undefined)
    fields.set(api.messagesField, listPieceElements(messages.cut, pieces ?? []));
  const without = callRequest.edits && !callRequest.isDryRun ? [CONTEXT_MANAGEMENT] : [];
  if (isFromLog) without.push(...CHAIN_FIELDS.filter((name) => (read.fields.all[name] ?? null) !== null));
  return { pieces, removed: without, ...(fields.size > 0 && { fields }) };
}
