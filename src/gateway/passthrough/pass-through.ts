import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { relayResponse } from "../reply/relay/relay-response.ts";
import { sendRequest } from "../upstream/send-request.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";

/** Forwards a request unchanged, or `changed` in its place, and relays the response; neither is parsed. */
export async function passThrough(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
  changed?: readonly Uint8Array[],
): Promise<void> {
  const { raw, request } = incoming;
  const hasBody = raw.length > 0 || request.headers["content-length"] !== undefined;
  const answer = await sendRequest(incoming, services, {
    upstream,
    body: changed ?? (hasBody ? [raw] : undefined),
    isBodyChanged: changed !== undefined,
  });
  await relayUnread(incoming, services, answer);
}

/** Relays a response without parsing it. */
export async function relayUnread(
  { response, signal, trace }: Incoming,
  services: Services,
  answer: UpstreamResponse,
): Promise<void> {
  trace.status = answer.status;
  const { idleMs } = services.config().limits;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt: trace.startedMs });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
}
