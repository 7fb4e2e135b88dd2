import type { SpanContext } from "@opentelemetry/api";
import { waitAtMost } from "../../base/time-limit.ts";
import { buildEndAttributes, buildStartAttributes, type CallEnd, type CallStart } from "./span-attributes.ts";
import { loadTelemetry } from "./telemetry-packages.ts";
import { formatTraceParent, parseTraceParent } from "./traceparent.ts";

/** The span of a call in progress. */
export interface CallSpan {
  /** Headers to send upstream in place of the client's, so that the trace continues there. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  /** Ends the span; later calls do nothing. */
  end(end: CallEnd): void;
}

/** Reports model calls to OpenTelemetry. */
export interface Spans {
  /** False if telemetry is not configured; `start` then returns undefined. */
  readonly isOn: boolean;
  start(call: CallStart): CallSpan | undefined;
  /** Sends all pending spans. */
  flush(): Promise<void>;
  /** Sends all pending spans for at most 5 seconds, then shuts down. */
  close(): Promise<void>;
}

interface SpansOptions {
  /** Address of an OTLP/HTTP receiver, with or without /v1/traces; defaults to OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint?: string | undefined;
  /** True if the content of messages is sent too. */
  readonly content: boolean;
  readonly version: string;
  readonly environment?: NodeJS.ProcessEnv;
}

const NO_SPANS: Spans = {
  isOn: false,
  start: () => undefined,
  flush: async () => {},
  close: async () => {},
};
const MAX_WAITING_SPANS = 2_048;
const BATCH_SPANS = 256;
const DELAY_MS = 2_000;
const EXPORT_MS = 5_000;
const CLOSE_MS = 5_000;
const MAX_VALUE_CHARACTERS = 65_536;

/** Connects to a telemetry receiver, if one is configured. Throws PACKAGE_MISSING if OpenTelemetry is not installed. */
export async function openSpans(options: SpansOptions): Promise<Spans> {
  const environment = options.environment ?? process.env;
  const url = findTracesUrl(options.endpoint, environment);
  if (url === undefined) return NO_SPANS;
  const { api, sdk, exporter: otlp, resources } = await loadTelemetry();
  const { trace, ROOT_CONTEXT, SpanKind, SpanStatusCode, createTraceState } = api;
  const exporter = new otlp.OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        "service.name": environment.OTEL_SERVICE_NAME ?? "longhaul-gateway",
        "service.version": options.version,
      }),
    ),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_CHARACTERS },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: DELAY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer("longhaul", options.version);

  const parentOf = (call: CallStart) => {
    const parent = parseTraceParent(call.traceparent);
    if (!parent) return ROOT_CONTEXT;
    const context: SpanContext = {
      traceId: parent.traceId,
      spanId: parent.spanId,
      traceFlags: parent.flags & 1,
      isRemote: true,
      ...(call.tracestate ? { traceState: createTraceState(call.tracestate) } : {}),
    };
    return trace.setSpanContext(ROOT_CONTEXT, context);
  };
  return {
    isOn: true,
    start(call) {
      const attributes = buildStartAttributes(call, options.content);
      const span = tracer.startSpan(
        `chat ${call.model}`,
        { kind: SpanKind.CLIENT, attributes },
        parentOf(call),
      );
      const { traceId, spanId, traceFlags, traceState } = span.spanContext();
      return {
        traceparent: formatTraceParent({ traceId, spanId, flags: traceFlags }),
        tracestate: traceState?.serialize(),
        end(end) {
          if (!span.isRecording()) return;
          span.setAttributes(buildEndAttributes(end, options.content));
          if (end.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    flush: () => provider.forceFlush().catch(() => {}),
    // An unreachable receiver must not delay the end of the process.
    close: () =>
      waitAtMost(
        CLOSE_MS,
        provider.shutdown().catch(() => {}),
      ),
  };
}

function findTracesUrl(endpoint: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  if (environment.OTEL_SDK_DISABLED === "true") return undefined;
  if (!endpoint && environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
    return environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = (endpoint || environment.OTEL_EXPORTER_OTLP_ENDPOINT)?.replace(/\/$/, "");
  if (!base) return undefined;
  return base.endsWith("/v1/traces") ? base : `${base}/v1/traces`;
}
