import { beginExchange } from "./begin-exchange.ts";
import type { Incoming } from "./door/incoming.ts";
import type { Services } from "./exchange/services.ts";
import { forwardUnchanged } from "./passthrough/forward-request.ts";
import { relayUnread } from "./passthrough/pass-through.ts";
import { keepRecallTools, prepareRecall } from "./recall/recall-turn.ts";
import { adviseNewConversation, announceEdit } from "./reply/announce-edit.ts";
import { answerWithSummary } from "./reply/answer-with-summary.ts";
import { EarlySend } from "./reply/early-send.ts";
import { noteEnd, recordReply } from "./reply/record-reply.ts";
import { relayResult } from "./reply/relay-result.ts";
import { reportSpending } from "./reply/report-spending.ts";
import { sendUntilAccepted } from "./reply/send-until-accepted.ts";
import { findNamedModels } from "./request/named-models.ts";
import { readRequest } from "./request/read-request.ts";
import { checkReferenceAccess } from "./upstream/check-ownership.ts";
import { checkTargetAllowed } from "./upstream/check-target.ts";
import { chooseTarget } from "./upstream/target.ts";

/** Answers one API request: finds its conversation, fits its window, relays its reply and stores it. */
export async function runExchange(incoming: Incoming, services: Services): Promise<void> {
  const reading = readRequest(incoming, services);
  const request = reading instanceof Promise ? await reading : reading;
  if (!request) return forwardUnchanged(incoming, services);
  const target = chooseTarget(request, incoming, services);
  checkTargetAllowed(incoming.principal, target, () => findNamedModels(request));
  const checking = checkReferenceAccess(incoming, services, target.upstream);
  if (checking) await checking;
  using early = new EarlySend();
  using exchange = await beginExchange(request, target, incoming, services, early);
  if (!exchange) {
    const sent = early.take();
    if (!sent) return forwardUnchanged(incoming, services, true);
    incoming.spending.report(incoming.spending.estimate);
    return relayUnread(incoming, services, await sent);
  }
  if (await answerWithSummary(exchange)) return;
  try {
    const recalling = prepareRecall(exchange);
    exchange.recall = recalling instanceof Promise ? await recalling : recalling;
    const result = await sendUntilAccepted(exchange);
    await announceEdit(exchange);
    const keeping = keepRecallTools(exchange, !result.refusal);
    if (keeping) await keeping;
    await relayResult(exchange, result);
    recordReply(exchange);
    await adviseNewConversation(exchange);
  } catch (error) {
    exchange.failure = error as Error;
    throw error;
  } finally {
    reportSpending(exchange);
    await noteEnd(exchange);
  }
}
