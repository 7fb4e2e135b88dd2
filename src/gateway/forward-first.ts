import type { SessionRecord } from "../index.ts";
import { canForwardFirst } from "./call/can-forward-first.ts";
import type { Exchange } from "./exchange/exchange-state.ts";
import { getRecallSettings } from "./recall/recall-settings.ts";
import type { EarlySend } from "./reply/early-send.ts";
import { sendBody } from "./reply/send-body.ts";
import type { CallRequest } from "./thread/call-request.ts";
import { mayEditWindow } from "./thread/call-request-facts.ts";
import type { Thread } from "./thread/thread.ts";

/**
 * Sends a request whose bytes nothing will change before its messages are stored, which then happens while the provider
 * works; true if it did. Called in the thread's turn, so that the requests of a conversation keep their order.
 */
export async function forwardFirst(
  exchange: Pick<Exchange, "incoming" | "services" | "trace" | "request" | "target" | "span">,
  thread: Thread,
  record: SessionRecord,
  callRequest: CallRequest,
  early: EarlySend,
): Promise<boolean> {
  const { incoming, services, request, target, trace } = exchange;
  // A second try of the same exchange, because its session was deleted in the meantime.
  if (early.isStarted) return true;
  // Other gateways would miss an exchange that the store they share did not take.
  if (services.kernel.maintenance.sharedStates) return false;
  if (getRecallSettings(services.config(), request.api.name, thread.kind).context) return false;
  if (!(await canForwardFirst(thread, record, callRequest, target))) return false;
  trace.isForwardedFirst = true;
  // The next request is prepared once this one is stored.
  const sent = { ...exchange, incoming: { ...incoming, onPrepared: () => undefined } };
  const body = [request.messages.cut.bytes];
  await early.start(() => sendBody({ ...sent, isEditable: mayEditWindow(callRequest) }, body));
  return true;
}
