import type { SpanContext } from "@opentelemetry/api";
import type { Savings } from "../../../kernel/faces/window.ts";
import type { Usage } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { waitAtMost } from "../../../model/base/time-limit.ts";
import { sumPromptTokens } from "../../../model/usage.ts";
import type { WireName } from "../../../wire/wire.ts";

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

/** Connects to a telemetry receiver, if one is configured. */
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

type SpanValues = Record<string, string | number | boolean | string[]>;

/** Facts about a model call that are known when it begins. */
export interface CallStart {
  readonly api: WireName;
  readonly model: string;
  /** Name of the upstream in the configuration. */
  readonly upstream: string;
  /** Host name of the upstream. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly request?: string | undefined;
  readonly session?: string | undefined;
  readonly thread?: string | undefined;
  readonly kind?: string | undefined;
  readonly client?: string | undefined;
  readonly isStreamed?: boolean | undefined;
  /** Trace headers of the client. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** The request as JSON in the form of gen_ai.input.messages; written only if content is enabled. */
  readonly input?: string | undefined;
}

/** Facts about a model call that are known when it ends. */
interface CallEnd {
  readonly status?: number | undefined;
  /** The kind of failure, one word of a small set; undefined on success. */
  readonly error?: string | undefined;
  readonly usage?: Usage | undefined;
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly firstByteMs?: number | undefined;
  readonly tokensBefore?: number | undefined;
  readonly tokensAfter?: number | undefined;
  readonly spentDollars?: number | undefined;
  readonly savings?: Savings | undefined;
  readonly healed?: number | undefined;
  readonly isEdited?: boolean | undefined;
  readonly isDryRun?: boolean | undefined;
  /** The reply as JSON in the form of gen_ai.output.messages; written only if content is enabled. */
  readonly output?: string | undefined;
}

/** Provider names of the OpenTelemetry conventions, by host name. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\.)anthropic\.com$/, "anthropic"],
  [/\.openai\.azure\.com$/, "azure.ai.openai"],
  [/(?:^|\.)openai\.com$/, "openai"],
  [/generativelanguage\.googleapis\.com$/, "gcp.gemini"],
  [/aiplatform\.googleapis\.com$/, "gcp.vertex_ai"],
  [/bedrock.*\.amazonaws\.com$/, "aws.bedrock"],
  [/(?:^|\.)groq\.com$/, "groq"],
  [/(?:^|\.)mistral\.ai$/, "mistral_ai"],
  [/(?:^|\.)deepseek\.com$/, "deepseek"],
  [/(?:^|\.)perplexity\.ai$/, "perplexity"],
  [/(?:^|\.)cohere\.(?:com|ai)$/, "cohere"],
  [/(?:^|\.)x\.ai$/, "x_ai"],
];

/** The provider's name in the conventions, or the upstream's own name if they have none. */
function getProviderName(host: string, upstream: string): string {
  return PROVIDERS.find(([pattern]) => pattern.test(host.toLowerCase()))?.[1] ?? upstream;
}

/** Attributes known before a call, per OpenTelemetry's conventions for generative AI. */
function buildStartAttributes(call: CallStart, hasContent: boolean): SpanValues {
  return dropUndefined({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": getProviderName(call.host, call.upstream),
    "gen_ai.request.model": call.model,
    "gen_ai.request.stream": call.isStreamed,
    "gen_ai.conversation.id": call.session,
    "openai.api.type": getApiType(call.api),
    "server.address": call.host,
    "server.port": call.port,
    "longhaul.request.id": call.request,
    "longhaul.upstream": call.upstream,
    "longhaul.thread": call.thread,
    "longhaul.kind": call.kind,
    "longhaul.client": call.client,
    "gen_ai.input.messages": hasContent ? call.input : undefined,
  });
}

/** Attributes known after a call. */
function buildEndAttributes(end: CallEnd, hasContent: boolean): SpanValues {
  return dropUndefined({
    ...buildUsageAttributes(end.usage),
    "longhaul.cost_dollars": end.spentDollars,
    "gen_ai.response.model": end.responseModel,
    "gen_ai.response.id": end.responseId,
    "gen_ai.response.finish_reasons": end.stopReason === undefined ? undefined : [end.stopReason],
    "gen_ai.response.time_to_first_chunk":
      end.firstByteMs === undefined ? undefined : end.firstByteMs / 1_000,
    "http.response.status_code": end.status,
    "error.type": end.error,
    "longhaul.tokens.before": end.tokensBefore,
    "longhaul.tokens.after": end.tokensAfter,
    "longhaul.saved_dollars": end.savings?.savedCost,
    "longhaul.unedited_dollars": end.savings?.withoutCost,
    "longhaul.extra_write_dollars": end.savings?.extraWriteCost,
    "longhaul.healed": end.healed,
    "longhaul.edited": end.isEdited,
    "longhaul.dry_run": end.isDryRun,
    "gen_ai.output.messages": hasContent ? end.output : undefined,
  });
}

/** The conventions include cached tokens in the input; our counts never overlap. */
function buildUsageAttributes(usage: Usage | undefined): Record<string, number | undefined> {
  if (!usage) return {};
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const hasInput = [inputTokens, cacheReadTokens, cacheWriteTokens].some((tokens) => tokens !== undefined);
  return {
    "gen_ai.usage.input_tokens": hasInput ? sumPromptTokens(usage) : undefined,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
  };
}

function getApiType(api: WireName): string | undefined {
  if (api === "anthropic") return undefined;
  return api === "openai-chat" ? "chat_completions" : "responses";
}

/** The part of OpenTelemetry that is used. */
interface Telemetry {
  readonly api: Pick<
    typeof import("@opentelemetry/api"),
    "trace" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "createTraceState"
  >;
  readonly sdk: Pick<
    typeof import("@opentelemetry/sdk-trace"),
    "TracerProvider" | "ParentBasedSampler" | "AlwaysOnSampler" | "BatchSpanProcessor"
  >;
  readonly exporter: Pick<typeof import("@opentelemetry/exporter-trace-otlp-http"), "OTLPTraceExporter">;
  readonly resources: Pick<
    typeof import("@opentelemetry/resources"),
    "defaultResource" | "resourceFromAttributes"
  >;
}

/** Loads OpenTelemetry, which only gateways that send spans need. */
async function loadTelemetry(): Promise<Telemetry> {
  const [api, sdk, exporter, resources] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  return { api, sdk, exporter, resources };
}

/** A position in a trace, as in W3C's traceparent. */
interface TraceParent {
  /** 32 hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** The lowest bit is set if the trace is sampled. */
  readonly flags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a traceparent header; undefined if it is invalid, which starts a new trace. Versions after 00 may have more
 * fields.
 */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(header?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & 0xff };
}

/** Writes a traceparent header of version 00. */
export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(flags & 1).toString(16).padStart(2, "0")}`;
}
