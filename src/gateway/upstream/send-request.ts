import type { UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/incoming.ts";
import { FaultError } from "../fault-error.ts";
import type { CallSpan } from "../observe/spans.ts";
import { countBytes } from "../outgoing/splice-body.ts";
import { withSpanHeaders } from "./call-span.ts";
import { findMissingCredential, getUpstreamKey } from "./credential.ts";
import { removeForeignLocation } from "./foreign-locations.ts";
import { createInformationForwarder } from "./inform-client.ts";
import { sendUpstream, type UpstreamResponse } from "./send-upstream.ts";
import { UpstreamError } from "./upstream-error.ts";
import { toUpstreamFault } from "./upstream-fault.ts";
import { buildUpstreamHeaders } from "./upstream-headers.ts";
import type { UpstreamServices } from "./upstream-services.ts";
import { buildUpstreamUrl } from "./upstream-url.ts";

/** A request to be sent upstream. */
interface UpstreamSend {
  readonly upstream: UpstreamConfig;
  /** Undefined for a request without a body. */
  readonly body: readonly Uint8Array[] | undefined;
  /** True if the body is sent in other bytes than it was received in. */
  readonly isBodyChanged: boolean;
  /** True if the response must be read on its way; default: as `isBodyChanged`. */
  readonly isResponseRead?: boolean;
  readonly span?: CallSpan | undefined;
}

/** Sends a request to its upstream and waits for the head of the response. Throws `FaultError`. */
export async function sendRequest(
  incoming: Incoming,
  services: UpstreamServices,
  sent: UpstreamSend,
): Promise<UpstreamResponse> {
  const { request, response, route, query, signal, trace } = incoming;
  const { upstream, body, isBodyChanged, isResponseRead = isBodyChanged, span } = sent;
  const url = buildUpstreamUrl(upstream, route.path, query);
  const rawHeaders = buildUpstreamHeaders(withSpanHeaders(request.rawHeaders, span), {
    api: route.api,
    host: url.host,
    key: getUpstreamKey(upstream, services.env),
    isGatewayToken: services.isGatewayToken,
    bodyLength: body && countBytes(body),
    isBodyChanged,
    isResponseRead,
  });
  const missing = findMissingCredential(upstream, rawHeaders);
  if (missing) throw new FaultError(missing);
  trace.upstream = upstream.name;
  trace.host = url.host;
  incoming.onPrepared();
  trace.overheadMs ??= performance.now() - trace.startedMs;
  try {
    const { limits } = services.config();
    const method = request.method ?? "POST";
    const answer = await sendUpstream({
      agents: services.agents,
      url,
      method,
      rawHeaders,
      body: body ?? [],
      signal,
      limits,
      onInformation: createInformationForwarder(request, response),
    });
    const kept = removeForeignLocation(answer.rawHeaders, url.host);
    return kept === answer.rawHeaders ? answer : { ...answer, rawHeaders: kept };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new FaultError(toUpstreamFault(error, upstream), error);
  }
}
