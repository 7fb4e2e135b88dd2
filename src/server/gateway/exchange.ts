import type { Incoming } from "./door/read-body.ts";
import type { Services } from "./exchange/services.ts";
import { keepRecallTools, prepareRecall } from "./recall/recall-turn.ts";
import { beginExchange } from "./reception/begin-exchange.ts";
import { forwardUnchanged } from "./reception/forward-request.ts";
import { answerWithSummary } from "./reply/answer-with-summary.ts";
import {
  adviseNewConversation,
  announceEdit,
  noteEnd,
  recordReply,
  reportSpending,
} from "./reply/record-reply.ts";
import { relayResult } from "./reply/relay-result.ts";
import { sendUntilAccepted } from "./reply/send-until-accepted.ts";
import { readRequest } from "./request/read-request.ts";
import { findNamedModels } from "./request/stream-usage.ts";
import { checkReferenceAccess } from "./upstream/check-ownership.ts";
import { checkTargetAllowed, chooseTarget } from "./upstream/target.ts";

/** Answers one API request: finds its conversation, fits its window, relays its reply and stores it. */
export async function runExchange(incoming: Incoming, services: Services): Promise<void> {
  const request = await readRequest(incoming, services);
  if (!request) return forwardUnchanged(incoming, services);
  const target = chooseTarget(request, incoming, services);
  const { person, token } = incoming.principal;
  if (person) checkTargetAllowed(incoming.principal, target, () => findNamedModels(request));
  if (token !== undefined) await checkReferenceAccess(incoming, services, target.upstream);
  using exchange = await beginExchange(request, target, incoming, services);
  if (!exchange) return forwardUnchanged(incoming, services, true);
  if (exchange.call.request.edits && (await answerWithSummary(exchange))) return;
  try {
    if (exchange.mayRecall) exchange.recall = await prepareRecall(exchange);
    const result = await sendUntilAccepted(exchange);
    const { plan } = exchange.call.content.fitted ?? {};
    if (plan) await announceEdit(exchange, plan);
    if (exchange.recall?.hasTools && !result.refusal) await keepRecallTools(exchange);
    await relayResult(exchange, result);
    recordReply(exchange);
    await adviseNewConversation(exchange);
  } catch (error) {
    exchange.failure = error as Error;
    throw error;
  } finally {
    if (incoming.spending) reportSpending(exchange);
    await noteEnd(exchange);
  }
}
