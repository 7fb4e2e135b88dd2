import { lengthOf } from "../body/splice.ts";
import type { UpstreamConfig } from "../config/config.ts";
import type { CallSpan } from "../observe/spans.ts";
import { informClient } from "../stream/inform-client.ts";
import { keyOf, missingCredential } from "../upstream/credential.ts";
import { faultOfUpstream } from "../upstream/fault-of.ts";
import { withoutForeignPlaces } from "../upstream/foreign-places.ts";
import { sendUpstream, type UpstreamAnswer } from "../upstream/send-upstream.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import { upstreamHeaders } from "../upstream/upstream-headers.ts";
import { upstreamUrl } from "../upstream/upstream-url.ts";
import { spanHeaders } from "./call-span.ts";
import { FaultError } from "./fault-error.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** A request to be sent upstream. */
export interface Sent {
  readonly upstream: UpstreamConfig;
  /** Undefined for a request without a body. */
  readonly body: readonly Uint8Array[] | undefined;
  /** True if the body was changed, or if the response must be read on its way. */
  readonly isEdited: boolean;
  readonly span?: CallSpan | undefined;
}

/** Sends a request to its upstream and waits for the head of the response. Throws `FaultError`. */
export async function send(admitted: Admitted, parts: ExchangeParts, sent: Sent): Promise<UpstreamAnswer> {
  const { request, response, route, query, signal, trace } = admitted;
  const { upstream, body, isEdited, span } = sent;
  const url = upstreamUrl(upstream, route.path, query);
  const rawHeaders = upstreamHeaders(spanHeaders(request.rawHeaders, span), {
    api: route.api,
    host: url.host,
    key: keyOf(upstream, parts.env),
    isGatewayToken: parts.isGatewayToken,
    bodyLength: body && lengthOf(body),
    isEdited,
  });
  const missing = missingCredential(upstream, rawHeaders);
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
      onInformation: informClient(request, response),
    });
    return { ...answer, rawHeaders: withoutForeignPlaces(answer.rawHeaders, url.host) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new FaultError(faultOfUpstream(error, upstream), error);
  }
}
