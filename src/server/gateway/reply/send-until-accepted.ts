import { runHealLoop } from "../../../kernel/calls/call-window.ts";
import {
  detectOutputOverflow,
  detectOverflow,
  detectPoison,
  type Overflow,
  type ProviderFailure,
  resolveThinkingRule,
} from "../../../kernel/faces/window.ts";
import { recordOverflow } from "../../../kernel/usage/overflow-count.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { getConversationId } from "../../../model/session-key.ts";
import { toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import {
  bindThinking,
  listBindings,
  repeatsThinking,
  UNREPEATABLE,
  withBinding,
} from "../cache/bound-thinking.ts";
import { type ThreadCall, traceCall } from "../call/thread-call.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { type BodyChanges, buildOutgoingBody, countBytes, isSameBody } from "../outgoing/outgoing-body.ts";
import { listPieceElements } from "../outgoing/outgoing-pieces.ts";
import { correctProviderFields } from "../outgoing/provider-fields.ts";
import { insertMemories, moveMemories } from "../recall/pinned-memories.ts";
import { CHAIN_FIELDS } from "../request/chain.ts";
import { CONTEXT_MANAGEMENT, lowerOutputFields } from "../request/request-fields.ts";
import { STREAM_OPTIONS } from "../request/stream-usage.ts";
import { sendRequest } from "../upstream/send-request.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";
import { askForDiagnosis, stopAskingDiagnosis } from "./record-reply.ts";
import { findRefusal, type UpstreamRefusal, type UpstreamResult } from "./relay/upstream-refusal.ts";

/** Sends the request of an exchange until it is answered or cannot be repaired. */
export async function sendUntilAccepted(exchange: Exchange): Promise<UpstreamResult> {
  const { services, target, thread, call } = exchange;
  const learned = services.modelLimits.getLearned(target);
  const result = await sendRound(exchange);
  if (result.refusal && detectOverflow(result.refusal.failure)) {
    await recordOverflow(thread.session).catch(services.onStoreFailure);
    if (call.request.isControl) return result;
    // It is not repaired again, and a client that repeats it is stopped.
    thread.sent.hopeless.record(call.request, call.healed);
    services.loops.recordOverflow(getConversationId(thread.session.id));
    services.modelLimits.restoreLearned(target, learned);
  }
  return result;
}

/** Sends one round of a request, with the `elements` of earlier rounds appended, until it is answered or given up. */
export async function sendRound(
  exchange: Exchange,
  elements?: readonly WireObject[],
): Promise<UpstreamResult> {
  const { call, recall } = exchange;
  const { caches } = exchange.services;
  let body = await buildExchangeBody(exchange, elements);
  const { answer, refusal } = await runHealLoop<UpstreamResponse, UpstreamRefusal>({
    async send() {
      if (!elements) call.setExtraTokens(recall?.countTokens() ?? 0);
      const watched = elements ? undefined : caches.watch(exchange, body);
      const response = await sendBody(exchange, body);
      await watched;
      const isWatched =
        call.isEditable || recall !== undefined || call.request.isControl === true || exchange.asksUsage;
      // An error has its own status, or is the first event of a stream.
      const mayRefuse = isWatched && (response.status >= 400 || exchange.trace.isStreamed === true);
      const refusal = mayRefuse ? await findRefusal(exchange, response, countBytes(body)) : undefined;
      if (refusal) noteRefusedThinking(exchange, refusal.failure, body);
      return { answer: response, ...dropUndefined({ refusal }) };
    },
    async heal({ failure }) {
      const isStopped =
        stopAskingUsage(exchange, failure) ||
        stopAskingDiagnosis(exchange, failure) ||
        moveMemories(exchange, failure) ||
        (recall?.listTools(failure) ?? false) ||
        dropRefusedThinking(exchange, failure);
      if (!isStopped && !(await repairRequest(exchange, failure, elements))) return false;
      const refused = body;
      body = await buildExchangeBody(exchange, elements);
      // The provider would give the same reply to the same bytes.
      return !isSameBody(refused, body);
    },
    discard: (response) => response.body.destroy(),
  });
  return { response: answer, ...dropUndefined({ refusal }) };
}

/** Counts a refusal of reasoning, with the cause: a body that is the client's own was changed by the client. */
function noteRefusedThinking(
  { request, trace }: Exchange,
  failure: ProviderFailure,
  body: readonly Uint8Array[],
): void {
  if (detectPoison(failure)?.kind !== "thinking") return;
  const by = body[0] === request.messages.cut.bytes ? "client" : "longhaul";
  trace.refusedThinking ??= { longhaul: 0, client: 0 };
  trace.refusedThinking[by]++;
}

/** True if the upstream does not know the field that asks for usage: it is not asked again. */
function stopAskingUsage(exchange: Exchange, { body, message }: ProviderFailure): boolean {
  if (!exchange.asksUsage || !/stream_options|include_usage/.test(JSON.stringify([body, message])))
    return false;
  exchange.asksUsage = false;
  exchange.services.spending.withoutUsage.set(exchange.target.upstream.name, true);
  return true;
}

/** True if another request must be tried: one without the gateway's additions, or one with a different window. */
async function repairRequest(
  { services, trace, call, target, recall }: Exchange,
  failure: ProviderFailure,
  elements: readonly WireObject[] | undefined,
): Promise<boolean> {
  const { modelLimits, config } = services;
  const detected = detectOverflow(failure) ?? detectOutputOverflow(failure);
  const overflow = detected && call.checkOverflow(detected);
  if (overflow?.limitTokens !== undefined) modelLimits.learn(target, overflow.limitTokens);
  // The client's messages must not be cut for content that it did not ask for.
  const isTooLong = overflow !== undefined && !isOutputOverflow(overflow) && !elements;
  if (isTooLong && (await recall?.makeRoom())) return true;
  if (elements) call.setExtraTokens(recall?.countTokens(elements) ?? 0);
  if (await call.repair(failure, modelLimits.getLimits(target, config().threshold))) {
    if (call.content.fitted?.maxOutputTokens !== undefined) modelLimits.learnOutputCounts(target);
    traceCall(trace, call);
    if (call.healed > 0) trace.healed = call.healed;
    return true;
  }
  if (elements) call.setExtraTokens(recall?.countTokens() ?? 0);
  return isTooLong && ((await recall?.drop()) ?? false);
}

/** True if the messages without the output would fit, according to the provider. */
function isOutputOverflow({ limitTokens, requestedTokens, outputTokens }: Overflow): boolean {
  if (limitTokens === undefined || outputTokens === undefined) return false;
  return (requestedTokens ?? outputTokens) - outputTokens < limitTokens;
}

/** The body to send for an exchange, with the `elements` of earlier rounds appended. */
async function buildExchangeBody(
  exchange: Exchange,
  elements: readonly WireObject[] | undefined,
): Promise<readonly Uint8Array[]> {
  const { incoming, request, target, call, memories, recall, asksUsage } = exchange;
  const { model, clientModel } = target;
  const { pieces, isFromLog } = call.content;
  const { maxOutputTokens } = call;
  const { api, messages, edits, isDryRun } = call.request;
  const { all } = request.fields;
  const fields = new Map<string, unknown>();
  const { route } = incoming;
  const isInPath = route.type === "api" && route.model !== undefined;
  if (model !== clientModel && !isInPath) fields.set("model", model);
  if (maxOutputTokens !== undefined && call.isEditable)
    for (const [name, value] of lowerOutputFields(all, maxOutputTokens)) fields.set(name, value);
  if (asksUsage) fields.set(STREAM_OPTIONS, { ...toObject(all[STREAM_OPTIONS]), include_usage: true });
  // A plain text becomes a list if more messages are sent.
  if (isFromLog && messages.cut.listFrom === undefined)
    fields.set(api.messagesField, listPieceElements(messages.cut, pieces ?? []));
  const removed = edits && !isDryRun ? [CONTEXT_MANAGEMENT] : [];
  if (isFromLog) removed.push(...CHAIN_FIELDS.filter((name) => (all[name] ?? null) !== null));
  const changes: BodyChanges = { pieces, removed, ...(fields.size > 0 && { fields }) };
  const corrected = pieces ? correctProviderFields(api.name, messages, all, changes, target) : changes;
  const added = recall?.addTo(corrected, elements) ?? corrected;
  const hasMemories = memories && (memories.text !== undefined || memories.later !== undefined);
  const whole = hasMemories ? insertMemories(exchange, added, memories) : added;
  const valid = leaveThinkingOut(exchange, whole, elements !== undefined);
  const body = buildOutgoingBody(request.messages, askForDiagnosis(exchange, valid));
  const { caches, config } = exchange.services;
  const { ttl } = config().cache;
  return ttl === "client" ? body : caches.setTtl(exchange, body, ttl);
}

/** The index of the first element whose thinking the provider has refused, by call. */
const thinkingEnds = new WeakMap<ThreadCall, number>();

/**
 * True if the provider has refused thinking behind a beginning that is not its client's own: that thought and all behind
 * it are left out, and all thinking if the provider refuses again. The reply remembers which thought came before it, so
 * they stay out.
 */
function dropRefusedThinking({ call, trace }: Exchange, failure: ProviderFailure): boolean {
  const refused = call.markReply && detectPoison(failure);
  if (refused?.kind !== "thinking") return false;
  const known = thinkingEnds.get(call);
  if (known === 0) return false;
  thinkingEnds.set(call, known === undefined ? (refused.path?.message ?? 0) : 0);
  trace.defect = refused.message;
  return true;
}

/** The changes of a body without thinking that the model produced from another beginning of the conversation. */
function leaveThinkingOut(
  { request, call, trace }: Exchange,
  changes: BodyChanges,
  isHidden: boolean,
): BodyChanges {
  const { api, messages } = request;
  const { fitted } = call.content;
  const { chain, isDryRun, limits } = call.request;
  if (!repeatsThinking(api.name) || isDryRun || (chain && !call.content.isFromLog)) return changes;
  if (resolveThinkingRule(limits.thinking, api.name) !== "bound") return changes;
  const bindings = listBindings((fitted?.slots ?? []).map(({ message }) => message));
  const bound = bindThinking(api.name, messages.cut, changes, bindings, thinkingEnds.get(call));
  // The client does not repeat the hidden rounds that come before the end of such a reply.
  const binding = isHidden ? UNREPEATABLE : bound.binding;
  call.markReply = binding && ((reply) => withBinding(reply, binding));
  // Thinking that was left out before is not lost again.
  const { sent } = call.thread;
  trace.leftThinking = Math.max(0, bound.lost - sent.lostThoughts);
  sent.lostThoughts = bound.lost;
  return bound.changes;
}

/** Sends a body; one that was not changed leaves as it was received, compressed if the upstream accepts that. */
async function sendBody(
  { incoming, services, trace, request, target, span, call: { isEditable } }: Exchange,
  body: readonly Uint8Array[],
): Promise<UpstreamResponse> {
  const { upstream } = target;
  const { packedBodies } = services;
  const isSame = body[0] === request.messages.cut.bytes;
  const isPacked = isSame && incoming.raw !== incoming.body;
  const own = { upstream, body, isBodyChanged: !isSame, isResponseRead: !isSame || isEditable, span };
  trace.bytesIn = incoming.body.length;
  if (!isPacked) return sendRequest(incoming, services, own);
  const packed = { ...own, body: [incoming.raw] };
  // With edits off, the request is the client's own affair.
  if (!isEditable) return sendRequest(incoming, services, packed);
  const plain = { ...own, isBodyChanged: true };
  if (!packedBodies.mayAccept(upstream.name)) return sendRequest(incoming, services, plain);
  const response = await sendRequest(incoming, services, packed);
  if (!packedBodies.mustUnpack(upstream.name, response.status)) return response;
  response.body.destroy();
  const unpacked = await sendRequest(incoming, services, plain);
  packedBodies.recordUnpacked(upstream.name, unpacked.status);
  return unpacked;
}
