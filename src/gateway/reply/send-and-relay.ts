import { detectOutputOverflow, detectOverflow, type Overflow, type ProviderFailure } from "../../index.ts";
import type { Api, WireObject } from "../api/api.ts";
import type { ReplyRecorder } from "../call/reply-recorder.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import { traceBody, traceCall } from "../call/trace-call.ts";
import type { Destination } from "../exchange/destination.ts";
import type { ParsedRequest } from "../exchange/read-request.ts";
import { sendRequest } from "../exchange/send-request.ts";
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
import type { UpstreamResponse } from "../upstream/send-upstream.ts";
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
  readonly destination: Destination;
  readonly call: ThreadCall;
  readonly recall: RequestRecall | undefined;
  readonly span: CallSpan | undefined;
}

/** Sends a call until it is answered, and relays the response; returns the recorder of the reply, if there was one. */
export async function sendAndRelay(
  admitted: Incoming,
  parts: Services,
  conversing: OutboundCall,
): Promise<ReplyRecorder | undefined> {
  const { api, destination, call, recall: recalled } = conversing;
  const told = parts.rooms.getLearned(destination);
  const { response: answered, refusal } = await sendUntilAccepted(admitted, parts, conversing);
  if (refusal && detectOverflow(refusal.failure)) {
    recordOverflow(parts, call);
    parts.rooms.restoreLearned(destination, told);
  }
  if (refusal?.raw) {
    admitted.trace.status = answered.status;
    admitted.trace.ending = "refused";
    sendWholeBody(admitted.response, answered, refusal.raw);
    return undefined;
  }
  const sendAgain = (elements: readonly WireObject[]) =>
    sendUntilAccepted(admitted, parts, conversing, elements);
  const rounds = recalled?.hasTools
    ? new CallRounds(admitted, parts, { call, recall: recalled, sendAgain })
    : undefined;
  const reader = rounds && createMergedReader(api, parts.kernel, rounds);
  const name = createReplyNamer(admitted.principal.id, parts, conversing.request, call);
  const recorder = call.createRecorder(reader, name);
  // Edits and additions must not make a client believe that its own window is full.
  const isOurs = canEdit(call) || recalled !== undefined;
  const mostTokens = isOurs ? parts.rooms.getClientWindow(destination) : undefined;
  const summary = await prepareSummary(admitted, parts, call);
  const answering = {
    api,
    recorder,
    mostTokens,
    change: createEditReporter(call, summary),
    behind: summary?.eventsAfter,
  };
  if (rounds) await relayRounds(admitted, parts, answered, answering, rounds);
  else await relayReply(admitted, parts, answered, answering);
  return recorder;
}

/** Sends a request, with the `elements` of a later round appended, until it is answered or cannot be repaired. */
async function sendUntilAccepted(
  admitted: Incoming,
  parts: Services,
  conversing: OutboundCall,
  elements?: readonly WireObject[],
): Promise<UpstreamResult> {
  const { api, call, recall: recalled } = conversing;
  let body = buildBody(conversing, elements);
  for (;;) {
    if (!elements) call.setExtraTokens(recalled?.countTokens() ?? 0);
    const { answered, isLong } = await sendOnce(admitted, parts, conversing, body, elements !== undefined);
    const isWatched = canEdit(call) || recalled !== undefined;
    const { config } = parts;
    const refusal = isWatched ? await findRefusal(api, answered, admitted, { config, isLong }) : undefined;
    if (!refusal) return { response: answered };
    if (!(await repairRequest(admitted, parts, conversing, refusal.failure, elements)))
      return { response: answered, refusal };
    const refused = body;
    body = buildBody(conversing, elements);
    // The provider would give the same reply to the same bytes.
    if (isSameBody(refused, body)) return { response: answered, refusal };
    answered.body.destroy();
  }
}

function buildBody(
  conversing: OutboundCall,
  elements: readonly WireObject[] | undefined,
): readonly Uint8Array[] {
  const changes = buildChanges(conversing);
  return buildOutgoingBody(conversing.request.said, conversing.recall?.addTo(changes, elements) ?? changes);
}

/** Records an overflow that reaches the client, so that it is not repaired again and a looping client is stopped. */
function recordOverflow({ loops }: Services, { thread, request: asked }: ThreadCall): void {
  thread.hopeless.record(asked);
  loops.recordOverflow(getLoopFamily(thread.session.id));
}

async function sendOnce(
  admitted: Incoming,
  parts: Services,
  conversing: OutboundCall,
  body: readonly Uint8Array[],
  isLaterRound: boolean,
): Promise<{ readonly answered: UpstreamResponse; readonly isLong: boolean }> {
  const { request: read, destination, call, span } = conversing;
  const isSame = body[0] === read.said.cut.bytes;
  const cameBytes = admitted.body.length;
  // Content sent in place of the provider's stored messages was never part of the client's body.
  if (!isLaterRound)
    traceBody(admitted.trace, call, cameBytes, call.isFromLog ? cameBytes : countBytes(body));
  const whole = isSame && !canEdit(call) ? [admitted.raw] : body;
  const isEdited = !isSame || canEdit(call);
  const sent = { upstream: destination.upstream, body: whole, isEdited, span };
  const isLong = call.request.chain !== undefined || countBytes(body) > LONG_BYTES;
  return { answered: await sendRequest(admitted, parts, sent), isLong };
}

/** True if another request must be tried: one without the gateway's additions, or one with a different window. */
async function repairRequest(
  { trace }: Incoming,
  { rooms, config }: Services,
  { call, destination, recall: recalled }: OutboundCall,
  failure: ProviderFailure,
  elements: readonly WireObject[] | undefined,
): Promise<boolean> {
  const told = detectOverflow(failure) ?? detectOutputOverflow(failure);
  const overflow = told && call.checkOverflow(told);
  if (overflow?.limitTokens !== undefined) rooms.learn(destination, overflow.limitTokens);
  // The client's messages must not be cut for content that it did not ask for.
  if (overflow && !isOutputOverflow(overflow) && !elements && recalled?.drop()) return true;
  if (elements) call.setExtraTokens(recalled?.countTokens(elements) ?? 0);
  if (await call.repair(failure, rooms.getLimits(destination, config().threshold))) {
    if (call.fitted?.maxOutputTokens !== undefined) rooms.learnOutputCounts(destination);
    traceCall(trace, call);
    return true;
  }
  if (elements) call.setExtraTokens(recalled?.countTokens() ?? 0);
  return false;
}

/** True if the messages alone would fit, according to the provider. */
function isOutputOverflow({ limitTokens, requestedTokens, outputTokens }: Overflow): boolean {
  if (limitTokens === undefined || outputTokens === undefined) return false;
  return (requestedTokens ?? outputTokens) - outputTokens < limitTokens;
}

/** True if the gateway may change the window of a call. */
function canEdit({ request: asked }: ThreadCall): boolean {
  return asked.policy !== "none" && !asked.isDryRun;
}

/** Adds the report that the client asked for to the reply: the edits made, and the summary if there is one. */
function createEditReporter(
  { request: asked, fitted }: ThreadCall,
  told: SummaryInserter | undefined,
): ((data: string) => string | undefined) | undefined {
  if (!asked.edits || asked.isDryRun) return undefined;
  const applied = findAppliedEdits(asked.edits, fitted?.slots ?? []);
  return (data) => {
    const changed = told?.change(data);
    return withAppliedEdits(asked.api.name, changed ?? data, applied) ?? changed;
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
function buildChanges({ request: read, destination, call }: OutboundCall): BodyChanges {
  const { model, clientModel } = destination;
  const { pieces, isFromLog, request: asked } = call;
  const { api, said } = asked;
  const fields = new Map<string, unknown>();
  if (model !== clientModel) fields.set("model", model);
  const { maxOutputTokens } = call;
  if (maxOutputTokens !== undefined && canEdit(call))
    for (const [name, value] of lowerOutputFields(read.fields.all, maxOutputTokens)) fields.set(name, value);
  // A plain text becomes a list if more messages are sent.
  if (isFromLog && said.cut.listFrom === undefined)
    fields.set(api.messagesField, listPieceElements(said.cut, pieces ?? []));
  const without = asked.edits && !asked.isDryRun ? [CONTEXT_MANAGEMENT] : [];
  if (isFromLog) without.push(...CHAIN_FIELDS.filter((name) => (read.fields.all[name] ?? null) !== null));
  return { pieces, removed: without, ...(fields.size > 0 && { fields }) };
}
