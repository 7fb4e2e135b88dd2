import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { relayResponse } from "../reply/relay/relay-response.ts";
import { sendRequest } from "../upstream/send-request.ts";

/** Forwards a request unchanged, or `changed` in its place, and relays the response; neither is parsed. */
export async function passThrough(
  incoming: Incoming,
  services: Services,
  upstream: UpstreamConfig,
  changed?: readonly Uint8Array[],
): Promise<void> {
  const { response, raw, request, signal, trace } = incoming;
  const hasBody = raw.length > 0 || request.headers["content-length"] !== undefined;
  const answer = await sendRequest(incoming, services, {
    upstream,
    body: changed ?? (hasBody ? [raw] : undefined),
    isBodyChanged: changed !== undefined,
  });
  trace.status = answer.status;
  const { idleMs } = services.config().limits;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt: trace.startedMs });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
}
