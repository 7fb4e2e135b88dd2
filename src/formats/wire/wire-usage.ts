import type { Json, Usage } from "../../index.ts";
import { dropUndefined, omitFields, toNumber, toObject } from "../content/fields.ts";
import type { RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Request id and model of a call. */
export interface UsageCall {
  readonly request?: string | undefined;
  readonly model?: string | undefined;
}

/** Converts Anthropic's usage; undefined if there is none. */
export function decodeAnthropicUsage(value: unknown, call: UsageCall): RecordBody | undefined {
  const usage = toObject(value);
  if (!usage) return undefined;
  const hour = toNumber(toObject(usage.cache_creation)?.ephemeral_1h_input_tokens);
  return buildUsageBody(
    {
      inputTokens: toNumber(usage.input_tokens),
      outputTokens: toNumber(usage.output_tokens),
      cacheReadTokens: toNumber(usage.cache_read_input_tokens),
      cacheWriteTokens: toNumber(usage.cache_creation_input_tokens),
      cacheWriteHourTokens: hour === 0 ? undefined : hour,
    },
    call,
    omitFields(usage, [
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
      "cache_creation",
    ]),
  );
}

/** Converts usage of OpenAI and compatible servers, in Chat Completions or Responses; undefined if there is none. */
export function decodeOpenaiUsage(value: unknown, call: UsageCall): RecordBody | undefined {
  const usage = toObject(value);
  if (!usage) return undefined;
  const input = toNumber(usage.prompt_tokens) ?? toNumber(usage.input_tokens);
  const inputDetails = toObject(usage.prompt_tokens_details) ?? toObject(usage.input_tokens_details) ?? {};
  const outputDetails =
    toObject(usage.completion_tokens_details) ?? toObject(usage.output_tokens_details) ?? {};
  const cached = toNumber(inputDetails.cached_tokens) ?? toNumber(usage.prompt_cache_hit_tokens);
  const written = toNumber(inputDetails.cache_write_tokens);
  return buildUsageBody(
    {
      // Their input includes cached tokens.
      inputTokens: input === undefined ? undefined : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
      outputTokens: toNumber(usage.completion_tokens) ?? toNumber(usage.output_tokens),
      cacheReadTokens: cached,
      cacheWriteTokens: written,
      reasoningTokens: toNumber(outputDetails.reasoning_tokens),
      cost: toNumber(usage.cost),
    },
    call,
    omitFields(usage, [
      "prompt_tokens",
      "completion_tokens",
      "input_tokens",
      "output_tokens",
      "total_tokens",
      "prompt_tokens_details",
      "completion_tokens_details",
      "input_tokens_details",
      "output_tokens_details",
      "prompt_cache_hit_tokens",
      "prompt_cache_miss_tokens",
      "cost",
    ]),
  );
}

/** Converts usage of any version of the AI SDK; undefined if there is none. */
export function decodeAiSdkUsage(value: unknown, call: UsageCall): RecordBody | undefined {
  const usage = toObject(value);
  if (!usage) return undefined;
  const input = toNumber(usage.inputTokens) ?? toNumber(usage.promptTokens);
  const inputDetails: JsonObject = toObject(usage.inputTokenDetails) ?? {};
  const outputDetails: JsonObject = toObject(usage.outputTokenDetails) ?? {};
  const cached = toNumber(inputDetails.cacheReadTokens) ?? toNumber(usage.cachedInputTokens);
  const written = toNumber(inputDetails.cacheWriteTokens);
  const outputTokens = toNumber(usage.outputTokens) ?? toNumber(usage.completionTokens);
  if (input === undefined && outputTokens === undefined) return undefined;
  return buildUsageBody(
    {
      inputTokens: input === undefined ? undefined : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
      outputTokens,
      cacheReadTokens: cached,
      cacheWriteTokens: written,
      reasoningTokens: toNumber(outputDetails.reasoningTokens) ?? toNumber(usage.reasoningTokens),
    },
    call,
    undefined,
  );
}

function buildUsageBody(
  counts: { readonly [K in keyof Usage]?: Usage[K] | undefined },
  { request, model }: UsageCall,
  rest: { readonly [key: string]: Json } | undefined,
): RecordBody {
  const usage = dropUndefined(counts) as Usage;
  return {
    kind: "usage",
    usage,
    ...(model !== undefined && { model }),
    ...(request !== undefined && { request }),
    ...(rest && { meta: rest }),
  };
}
