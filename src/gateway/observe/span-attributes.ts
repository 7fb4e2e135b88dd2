import type { Usage } from "../../index.ts";
import type { Savings } from "../../window-entry.ts";
import type { WireName } from "../../wire/wire.ts";

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
export interface CallEnd {
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
export function buildStartAttributes(call: CallStart, hasContent: boolean): SpanValues {
  return omitUndefined({
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
export function buildEndAttributes(end: CallEnd, hasContent: boolean): SpanValues {
  return omitUndefined({
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
  const input = (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    "gen_ai.usage.input_tokens": hasInput ? input : undefined,
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

function omitUndefined(values: Record<string, SpanValues[string] | undefined>): SpanValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as SpanValues;
}
