import type { SessionRecord } from "../index.ts";
import { canForwardFirst } from "./call/can-forward-first.ts";
import type { Exchange } from "./exchange/exchange-state.ts";
import { getRecallSettings } from "./recall/recall-settings.ts";
import type { EarlySend } from "./reply/early-send.ts";
import { sendBody } from "./reply/send-body.ts";
import { mustAskUsage } from "./request/stream-usage.ts";
import type { CallRequest } from "./thread/call-request.ts";
import { mayEditWindow } from "./thread/call-request-facts.ts";
import type { Thread } from "./thread/thread.ts";

type SendingExchange = Pick<Exchange, "incoming" | "services" | "trace" | "request" | "target" | "span">;

/**
 * Sends a request whose bytes nothing will change before its messages are stored, which then happens while the provider
 * works; true if it did. Called in the thread's turn, so that the requests of a conversation keep their order.
 */
export function forwardFirst(
  exchange: SendingExchange,
  thread: Thread,
  record: SessionRecord,
  callRequest: CallRequest,
  early: EarlySend,
): boolean | Promise<boolean> {
  const { incoming, services, request, target } = exchange;
  // A second try of the same exchange, because its session was deleted in the meantime.
  if (early.isStarted) return true;
  if (mustAskUsage(request, target, incoming, services)) return false;
  // Other gateways would miss an exchange that the store they share did not take.
  if (services.kernel.maintenance.sharedStates) return false;
  if (getRecallSettings(services.config(), request.api.name, thread.kind).context) return false;
  const deciding = canForwardFirst(thread, record, callRequest, target);
  return deciding !== false && forward(exchange, callRequest, early, deciding);
}

async function forward(
  exchange: SendingExchange,
  callRequest: CallRequest,
  early: EarlySend,
  deciding: true | Promise<boolean>,
): Promise<boolean> {
  if (!(await deciding)) return false;
  const { incoming, request, trace } = exchange;
  trace.isForwardedFirst = true;
  // The next request is prepared once this one is stored.
  const sent = { ...exchange, incoming: { ...incoming, onPrepared: () => undefined } };
  const body = [request.messages.cut.bytes];
  await early.start(() => sendBody({ ...sent, isEditable: mayEditWindow(callRequest) }, body));
  return true;
}
