import type { IncomingMessage, InformationEvent, ServerResponse } from "node:http";
import { FaultError } from "../../../wire/fault-error.ts";
import type { GatewayConfig, UpstreamConfig } from "../config/config.ts";
import type { Incoming } from "../door/read-body.ts";
import type { CallSpan, Spans } from "../observe/spans.ts";
import type { Trace } from "../observe/trace.ts";
import { countBytes } from "../outgoing/outgoing-body.ts";
import {
  buildUpstreamUrl,
  type ConnectionAgents,
  type PackedBodies,
  sendUpstream,
  type UpstreamResponse,
  type UpstreamUrl,
} from "./send-upstream.ts";
import type { Target } from "./target.ts";
import { toUpstreamFault, UpstreamError } from "./upstream-error.ts";
import {
  buildUpstreamHeaders,
  filterHeaders,
  findMissingCredential,
  findRawHeader,
  getForwardedHeaders,
  getUpstreamKey,
  type RawHeaders,
} from "./upstream-headers.ts";

/** The parts of a request that its signature covers. */
interface SignedRequest {
  readonly url: UpstreamUrl;
  readonly method: string;
  readonly body: readonly Uint8Array[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const SIGNATURE_HEADERS = /^(?:authorization|x-amz-(?:date|security-token|content-sha256))$/;

/** Headers that the signature must cover. */
const SIGNED_HEADERS = /^(?:content-type|accept|x-amzn-.*)$/;

const UNSIGNED = {
  status: 401,
  kind: "unauthorized",
  message:
    "The AWS signature of this request covers the gateway's own address, so Bedrock would refuse it, and the gateway has no credentials to make another: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) where the gateway runs, or send a Bedrock API key (AWS_BEARER_TOKEN_BEDROCK at the client).",
} as const;

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

/** The connections to upstreams, and the settings of requests to them. */
interface Connections {
  readonly config: () => GatewayConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly agents: ConnectionAgents;
  readonly packedBodies: PackedBodies;
  readonly isGatewayToken: (credential: string) => boolean;
}

/** Sends a request to its upstream and waits for the head of the response. Throws `FaultError`. */
export async function sendRequest(
  incoming: Incoming,
  services: Connections,
  sent: UpstreamSend,
): Promise<UpstreamResponse> {
  const { request, response, route, query, signal, trace } = incoming;
  const { upstream, body, isBodyChanged, isResponseRead = isBodyChanged, span } = sent;
  const url = buildUpstreamUrl(upstream, route.path, query);
  const unsigned = buildUpstreamHeaders(
    span ? withSpanHeaders(request.rawHeaders, span) : request.rawHeaders,
    {
      api: route.api,
      host: url.host,
      key: getUpstreamKey(upstream, services.env),
      isGatewayToken: services.isGatewayToken,
      bodyLength: body && countBytes(body),
      isBodyChanged,
      isResponseRead,
    },
  );
  // Requests to Amazon Bedrock are signed.
  const rawHeaders = route.path.startsWith("/model/")
    ? await signForAws(unsigned, { url, method: request.method ?? "POST", body, env: services.env })
    : unsigned;
  const missing = findMissingCredential(upstream, rawHeaders);
  if (missing) throw new FaultError(missing);
  trace.upstream = upstream.name;
  trace.host = url.host;
  incoming.onPrepared();
  trace.overheadMs ??= performance.now() - trace.startedMs;
  try {
    const { limits } = services.config();
    const method = request.method ?? "POST";
    const forwarded = { count: 0 };
    const answer = await sendUpstream({
      agents: services.agents,
      url,
      method,
      rawHeaders,
      body: body ?? [],
      signal,
      limits,
      onInformation: (information) => forwardInformation(information, request, response, forwarded),
    });
    const location = findRawHeader(answer.rawHeaders, "location");
    if (location === undefined || isLocationOf(location, url.host)) return answer;
    // It would send a client, and its key, to a host other than the upstream's.
    return { ...answer, rawHeaders: filterHeaders(answer.rawHeaders, (name) => name !== "location") };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new FaultError(toUpstreamFault(error, upstream), error);
  }
}

/** True for a Location header that stays at a host. */
function isLocationOf(location: string, host: string): boolean {
  const base = `http://${host}`;
  return URL.canParse(location, base) && new URL(location, base).host === new URL(base).host;
}

/** "100 Continue" concerns only the client and the gateway, and "101 Switching Protocols" is never forwarded. */
const MIN_FORWARDED_STATUS = 102;

/** Maximum number of informational responses forwarded; also limits the bytes that a slow client must take. */
const MAX_FORWARDED = 100;
const HEAD_BYTES = 16 * 1_024;

/** Forwards informational responses of an upstream, such as "103 Early Hints", to a client that supports them. */
function forwardInformation(
  { statusCode, statusMessage, rawHeaders }: InformationEvent,
  request: Pick<IncomingMessage, "httpVersion">,
  response: ServerResponse,
  forwarded: { count: number },
): void {
  const { socket } = response;
  if (statusCode < MIN_FORWARDED_STATUS || request.httpVersion !== "1.1") return;
  if (++forwarded.count > MAX_FORWARDED) return;
  // A response that has begun, or that waits behind another one on the connection, can no longer be preceded by
  // anything.
  if (!socket || response.headersSent || !socket.writable || socket.writableNeedDrain) return;
  const head = formatHead(statusCode, statusMessage, getForwardedHeaders(rawHeaders));
  if (head.length <= HEAD_BYTES) socket.write(head, "latin1");
}

function formatHead(status: number, message: string, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${status} ${message}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Starts the span of a model call, if telemetry is on. */
export function startSpan(
  { request, route, trace }: Incoming,
  spans: Spans,
  { upstream, model }: Target,
): CallSpan | undefined {
  const { traceparent, tracestate } = request.headers;
  const { hostname: host, port } = buildUpstreamUrl(upstream, route.path);
  return spans.start({
    api: route.api,
    model,
    upstream: upstream.name,
    host,
    port,
    request: trace.id,
    session: trace.session,
    kind: trace.kind,
    client: trace.client,
    isStreamed: trace.isStreamed,
    traceparent: getFirst(traceparent),
    tracestate: getFirst(tracestate),
  });
}

/** Ends a span with the facts of the trace. */
export function endSpan(span: CallSpan, trace: Trace): void {
  const { isPlanned, ...rest } = trace;
  span.end({ ...rest, isEdited: isPlanned });
}

/** The headers of a request with its span in place of the client's, so that the trace continues at the upstream. */
function withSpanHeaders(rawHeaders: RawHeaders, span: CallSpan): RawHeaders {
  const others = filterHeaders(rawHeaders, (name) => name !== "traceparent" && name !== "tracestate");
  const state = span.tracestate === undefined ? [] : ["tracestate", span.tracestate];
  return [...others, "traceparent", span.traceparent, ...state];
}

function getFirst(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The headers of a request with a signature for Amazon. The client's own signature covers the gateway's address, so it is
 * made again with the credentials of the gateway; a Bedrock API key is forwarded as it is. Throws `FaultError` if neither
 * is there.
 */
async function signForAws(rawHeaders: RawHeaders, signed: SignedRequest): Promise<string[]> {
  const { url, method, body, env } = signed;
  if (/^\s*bearer\s/i.test(findRawHeader(rawHeaders, "authorization") ?? "")) return [...rawHeaders];
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey) throw new FaultError(UNSIGNED);
  const region = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(url.hostname)?.[1] ?? env.AWS_REGION;
  const kept = filterHeaders(rawHeaders, (name) => !SIGNATURE_HEADERS.test(name));
  const covered = filterHeaders(kept, (name) => SIGNED_HEADERS.test(name));
  const { AwsV4Signer } = await import("aws4fetch");
  const signer = new AwsV4Signer({
    url: `${url.protocol}//${url.host}${url.path}`,
    method,
    headers: toPairs(covered),
    body: Buffer.concat(body ?? []),
    accessKeyId,
    secretAccessKey,
    service: "bedrock",
    region: region ?? "us-east-1",
    ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
  });
  const { headers } = await signer.sign();
  const added = [...headers].filter(([name]) => SIGNATURE_HEADERS.test(name)).flat();
  return [...kept, ...added];
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    rawHeaders[2 * at] as string,
    rawHeaders[2 * at + 1] as string,
  ]);
}
