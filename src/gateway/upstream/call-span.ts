import type { Incoming } from "../door/incoming.ts";
import type { CallSpan } from "../observe/spans.ts";
import type { Trace } from "../observe/trace.ts";
import { filterHeaders, type RawHeaders } from "./raw-headers.ts";
import type { Target } from "./target.ts";
import type { UpstreamServices } from "./upstream-services.ts";
import { buildUpstreamUrl } from "./upstream-url.ts";

/** Starts the span of a model call; undefined if telemetry is off. */
export function startSpan(
  { request, route, trace }: Incoming,
  { spans }: Pick<UpstreamServices, "spans">,
  { upstream, model }: Target,
): CallSpan | undefined {
  if (!spans.isOn) return undefined;
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
export function endSpan(span: CallSpan | undefined, trace: Trace): void {
  const { isPlanned, ...rest } = trace;
  span?.end({ ...rest, isEdited: isPlanned });
}

/** The headers of a request with its span in place of the client's, so that the trace continues at the upstream. */
export function withSpanHeaders(rawHeaders: RawHeaders, span: CallSpan | undefined): RawHeaders {
  if (!span) return rawHeaders;
  const others = filterHeaders(rawHeaders, (name) => name !== "traceparent" && name !== "tracestate");
  const state = span.tracestate === undefined ? [] : ["tracestate", span.tracestate];
  return [...others, "traceparent", span.traceparent, ...state];
}

function getFirst(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
