import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { relayResponse } from "../reply/relay/relay-response.ts";
import { BodyError, cutBody } from "../request/cut-body.ts";
import { sendRequest } from "../upstream/send-request.ts";

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
  const { response, signal, trace } = incoming;
  trace.status = answer.status;
  const { idleMs } = services.config().limits;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt: trace.startedMs });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
}

/** A body with another model name and no other change; undefined if the field cannot be located. */
export function replaceModel(body: Buffer, model: string | undefined): readonly Uint8Array[] | undefined {
  try {
    return buildOutgoingBody(
      { cut: cutBody(body, "") },
      { pieces: undefined, fields: new Map([["model", model]]) },
    );
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}
