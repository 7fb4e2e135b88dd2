import type { Usage } from "../../model/usage.ts";
import { toObject } from "../fields.ts";
import {
  findPriceFactor,
  sumKnownCounts,
  toCost,
  toCount,
  toInputCounts,
  toUsage,
} from "../usage/usage-counts.ts";
import type { WireObject } from "../wire.ts";

/**
 * Parses the usage of OpenAI and compatible servers; undefined if it contains no count. Some servers use the fields of
 * Responses in Chat Completions, so both are read. `reply` names the tier that the request was served in.
 */
export function parseOpenaiUsage(value: unknown, reply: WireObject = {}): Usage | undefined {
  const report = toObject(value) ?? {};
  const inputDetails = toObject(report.prompt_tokens_details) ?? toObject(report.input_tokens_details) ?? {};
  const outputDetails =
    toObject(report.completion_tokens_details) ?? toObject(report.output_tokens_details) ?? {};
  const input = toCount(report.prompt_tokens) ?? toCount(report.input_tokens);
  const output = toCount(report.completion_tokens) ?? toCount(report.output_tokens);
  const reasoning = toCount(outputDetails.reasoning_tokens);
  // Some servers do not include reasoning in the completion count; their total shows it.
  const isBeside =
    reasoning !== undefined && report.total_tokens === sumKnownCounts(input, output, reasoning);
  const factor = findPriceFactor(reply, true);
  return toUsage({
    ...toInputCounts(
      input,
      toCount(inputDetails.cached_tokens) ?? toCount(report.prompt_cache_hit_tokens),
      toCount(inputDetails.cache_write_tokens),
    ),
    outputTokens: isBeside ? sumKnownCounts(output, reasoning) : output,
    reasoningTokens: reasoning,
    cost: toCost(report.cost),
    priceFactor: factor === 1 ? undefined : factor,
  });
}
