import { FaultError } from "../api/fault-error.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { CallSpan } from "../observe/spans.ts";
import { countBytes } from "../outgoing/splice-body.ts";
import { findMissingCredential, getUpstreamKey } from "../upstream/credential.ts";
import { removeForeignLocation } from "../upstream/foreign-locations.ts";
import { createInformationForwarder } from "../upstream/inform-client.ts";
import { sendUpstream, type UpstreamResponse } from "../upstream/send-upstream.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import { toUpstreamFault } from "../upstream/upstream-fault.ts";
import { buildUpstreamHeaders } from "../upstream/upstream-headers.ts";
import { buildUpstreamUrl } from "../upstream/upstream-url.ts";
import { withSpanHeaders } from "./call-span.ts";
import type { Incoming, Services } from "./services.ts";

/** A request to be sent upstream. */
export interface UpstreamSend {
  readonly upstream: UpstreamConfig;
  /** Undefined for a request without a body. */
  readonly body: readonly Uint8Array[] | undefined;
  /** True if the body was changed, or if the response must be read on its way. */
  readonly isEdited: boolean;
  readonly span?: CallSpan | undefined;
}

/** Sends a request to its upstream and waits for the head of the response. Throws `FaultError`. */
export async function sendRequest(
  admitted: Incoming,
  parts: Services,
  sent: UpstreamSend,
): Promise<UpstreamResponse> {
  const { request, response, route, query, signal, trace } = admitted;
  const { upstream, body, isEdited, span } = sent;
  const url = buildUpstreamUrl(upstream, route.path, query);
  const rawHeaders = buildUpstreamHeaders(withSpanHeaders(request.rawHeaders, span), {
    api: route.api,
    host: url.host,
    key: getUpstreamKey(upstream, parts.env),
    isGatewayToken: parts.isGatewayToken,
    bodyLength: body && countBytes(body),
    isEdited,
  });
  const missing = findMissingCredential(upstream, rawHeaders);
  if (missing) throw new FaultError(missing);
  trace.upstream = upstream.name;
  trace.host = url.host;
  admitted.onPrepared();
  trace.overheadMs ??= performance.now() - trace.startedMs;
  try {
    const { limits } = parts.config();
    const method = request.method ?? "POST";
    const answer = await sendUpstream({
      agents: parts.agents,
      url,
      method,
      rawHeaders,
      body: body ?? [],
      signal,
      limits,
      onInformation: createInformationForwarder(request, response),
    });
    return { ...answer, rawHeaders: removeForeignLocation(answer.rawHeaders, url.host) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new FaultError(toUpstreamFault(error, upstream), error);
  }
}
