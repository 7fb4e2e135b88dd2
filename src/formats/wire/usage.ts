import type { Json, Usage } from "../../index.ts";
import { definedFields, fieldsBesides, numberOf, objectOf } from "../content/fields.ts";
import type { RecordBody } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Request id and model of a call. */
export interface Call {
  readonly request?: string | undefined;
  readonly model?: string | undefined;
}

/** Converts Anthropic's usage; undefined if there is none. */
export function anthropicUsage(value: unknown, call: Call): RecordBody | undefined {
  const usage = objectOf(value);
  if (!usage) return undefined;
  const hour = numberOf(objectOf(usage.cache_creation)?.ephemeral_1h_input_tokens);
  return usageBody(
    {
      inputTokens: numberOf(usage.input_tokens),
      outputTokens: numberOf(usage.output_tokens),
      cacheReadTokens: numberOf(usage.cache_read_input_tokens),
      cacheWriteTokens: numberOf(usage.cache_creation_input_tokens),
      cacheWriteHourTokens: hour === 0 ? undefined : hour,
    },
    call,
    fieldsBesides(usage, [
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
      "cache_creation",
    ]),
  );
}

/** Converts usage of OpenAI and compatible servers, in Chat Completions or Responses; undefined if there is none. */
export function openaiUsage(value: unknown, call: Call): RecordBody | undefined {
  const usage = objectOf(value);
  if (!usage) return undefined;
  const input = numberOf(usage.prompt_tokens) ?? numberOf(usage.input_tokens);
  const inputDetails = objectOf(usage.prompt_tokens_details) ?? objectOf(usage.input_tokens_details) ?? {};
  const outputDetails =
    objectOf(usage.completion_tokens_details) ?? objectOf(usage.output_tokens_details) ?? {};
  const cached = numberOf(inputDetails.cached_tokens) ?? numberOf(usage.prompt_cache_hit_tokens);
  const written = numberOf(inputDetails.cache_write_tokens);
  return usageBody(
    {
      // Their input includes cached tokens.
      inputTokens: input === undefined ? undefined : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
      outputTokens: numberOf(usage.completion_tokens) ?? numberOf(usage.output_tokens),
      cacheReadTokens: cached,
      cacheWriteTokens: written,
      reasoningTokens: numberOf(outputDetails.reasoning_tokens),
      cost: numberOf(usage.cost),
    },
    call,
    fieldsBesides(usage, [
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
export function aiSdkUsage(value: unknown, call: Call): RecordBody | undefined {
  const usage = objectOf(value);
  if (!usage) return undefined;
  const input = numberOf(usage.inputTokens) ?? numberOf(usage.promptTokens);
  const inputDetails: JsonObject = objectOf(usage.inputTokenDetails) ?? {};
  const outputDetails: JsonObject = objectOf(usage.outputTokenDetails) ?? {};
  const cached = numberOf(inputDetails.cacheReadTokens) ?? numberOf(usage.cachedInputTokens);
  const written = numberOf(inputDetails.cacheWriteTokens);
  const outputTokens = numberOf(usage.outputTokens) ?? numberOf(usage.completionTokens);
  if (input === undefined && outputTokens === undefined) return undefined;
  return usageBody(
    {
      inputTokens: input === undefined ? undefined : Math.max(0, input - (cached ?? 0) - (written ?? 0)),
      outputTokens,
      cacheReadTokens: cached,
      cacheWriteTokens: written,
      reasoningTokens: numberOf(outputDetails.reasoningTokens) ?? numberOf(usage.reasoningTokens),
    },
    call,
    undefined,
  );
}

function usageBody(
  counts: { readonly [K in keyof Usage]?: Usage[K] | undefined },
  { request, model }: Call,
  rest: { readonly [key: string]: Json } | undefined,
): RecordBody {
  const usage = definedFields(counts) as Usage;
  return {
    kind: "usage",
    usage,
    ...(model !== undefined && { model }),
    ...(request !== undefined && { request }),
    ...(rest && { meta: rest }),
  };
}
