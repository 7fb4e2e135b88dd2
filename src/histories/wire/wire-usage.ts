import type { Json, Usage } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { parseAnthropicUsage } from "../../wire/anthropic/anthropic-wire.ts";
import { omitFields, toNumber, toObject } from "../../wire/fields.ts";
import { parseOpenaiUsage } from "../../wire/openai/parse-openai-usage.ts";
import { toInputCounts, toUsage } from "../../wire/usage/usage-counts.ts";
import type { RecordBody } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Request id and model of a call. */
interface UsageCall {
  readonly request?: string | undefined;
  readonly model?: string | undefined;
}

/** Converts Anthropic's usage; undefined if there is none. */
export function decodeAnthropicUsage(value: unknown, call: UsageCall): RecordBody | undefined {
  const usage = toObject(value);
  if (!usage) return undefined;
  return buildUsageBody(
    parseAnthropicUsage(usage),
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
  return buildUsageBody(
    parseOpenaiUsage(usage),
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
    toUsage({
      ...toInputCounts(input, cached, written),
      outputTokens,
      reasoningTokens: toNumber(outputDetails.reasoningTokens) ?? toNumber(usage.reasoningTokens),
    }),
    call,
    undefined,
  );
}

function buildUsageBody(
  usage: Usage | undefined,
  { request, model }: UsageCall,
  rest: { readonly [key: string]: Json } | undefined,
): RecordBody {
  return dropUndefined({
    kind: "usage",
    usage: usage ?? {},
    model,
    request,
    meta: rest || undefined,
  });
}
