import { recordOverflow } from "../../conversation/control/overflow-count.ts";
import { runHealLoop } from "../../conversation/heal-loop.ts";
import {
  detectOutputOverflow,
  detectOverflow,
  type Overflow,
  type ProviderFailure,
} from "../../window-entry.ts";
import type { WireObject } from "../../wire/wire.ts";
import { traceCall } from "../call/trace-call.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { getLoopFamily } from "../loops/loop-family.ts";
import { countBytes, isSameBody } from "../outgoing/splice-body.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";
import { buildExchangeBody } from "./exchange-body.ts";
import { findRefusal, type UpstreamRefusal, type UpstreamResult } from "./relay/upstream-refusal.ts";
import { sendBody } from "./send-body.ts";

/** Sends the request of an exchange until it is answered or cannot be repaired. */
export async function sendUntilAccepted(exchange: Exchange): Promise<UpstreamResult> {
  const { services, target, thread, call } = exchange;
  const learned = services.modelLimits.getLearned(target);
  const result = await sendRound(exchange);
  if (result.refusal && detectOverflow(result.refusal.failure)) {
    await recordOverflow(thread.session).catch(services.onStoreFailure);
    if (call.request.isControl) return result;
    // It is not repaired again, and a client that repeats it is stopped.
    thread.hopeless.record(call.request, call.healed);
    services.loops.recordOverflow(getLoopFamily(thread.session.id));
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
  let body = buildExchangeBody(exchange, elements);
  const { answer, refusal } = await runHealLoop<UpstreamResponse, UpstreamRefusal>({
    async send() {
      if (!elements) call.setExtraTokens(recall?.countTokens() ?? 0);
      const response = await sendOrTake(exchange, body);
      const isWatched =
        call.isEditable || recall !== undefined || call.request.isControl === true || exchange.asksUsage;
      const finding = isWatched ? findRefusal(exchange, response, countBytes(body)) : undefined;
      const refusal = finding instanceof Promise ? await finding : finding;
      return { answer: response, ...(refusal && { refusal }) };
    },
    async heal({ failure }) {
      if (!stopAskingUsage(exchange, failure) && !(await repairRequest(exchange, failure, elements)))
        return false;
      const refused = body;
      body = buildExchangeBody(exchange, elements);
      // The provider would give the same reply to the same bytes.
      return !isSameBody(refused, body);
    },
    discard: (response) => response.body.destroy(),
  });
  return { response: answer, ...(refusal && { refusal }) };
}

/** The response to a body: of the request that is under way already if it has these bytes, else of a new one. */
async function sendOrTake(exchange: Exchange, body: readonly Uint8Array[]): Promise<UpstreamResponse> {
  const { call, early, incoming, request, trace } = exchange;
  const response = early.take();
  if (response && body[0] === request.messages.cut.bytes) {
    incoming.onPrepared();
    return response;
  }
  if (response) {
    trace.isSentTwice = true;
    response.then((unused) => unused.body.destroy()).catch(() => undefined);
  }
  return sendBody({ ...exchange, isEditable: call.isEditable }, body);
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
  if (isTooLong && recall?.makeRoom()) return true;
  if (elements) call.setExtraTokens(recall?.countTokens(elements) ?? 0);
  if (await call.repair(failure, modelLimits.getLimits(target, config().threshold))) {
    if (call.fitted?.maxOutputTokens !== undefined) modelLimits.learnOutputCounts(target);
    traceCall(trace, call);
    return true;
  }
  if (elements) call.setExtraTokens(recall?.countTokens() ?? 0);
  return isTooLong && (recall?.drop() ?? false);
}

/** True if the messages alone would fit, according to the provider. */
function isOutputOverflow({ limitTokens, requestedTokens, outputTokens }: Overflow): boolean {
  if (limitTokens === undefined || outputTokens === undefined) return false;
  return (requestedTokens ?? outputTokens) - outputTokens < limitTokens;
}
