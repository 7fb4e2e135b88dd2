import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { OtherCall, Usage } from "../../model/usage.ts";
import { toArray, toObject, toText } from "../fields.ts";
import { findPriceFactor, sumKnownCounts, toCount, toUsage, withOtherCalls } from "../usage/usage-counts.ts";
import type { WireObject } from "../wire.ts";

/** Parses the usage of Anthropic's Messages API; undefined if it contains no count. */
export function parseAnthropicUsage(value: unknown): Usage | undefined {
  const report = toObject(value) ?? {};
  const factor = findPriceFactor(report, true);
  const searches = toCount(toObject(report.server_tool_use)?.web_search_requests);
  const usage = toUsage({
    ...parseCounts(report),
    priceFactor: factor === 1 ? undefined : factor,
    webSearches: searches === 0 ? undefined : searches,
  });
  return withOtherCalls(usage, parseOtherCalls(report, factor));
}

function parseCounts(report: WireObject) {
  const written = toObject(report.cache_creation);
  const brief = toCount(written?.ephemeral_5m_input_tokens);
  const hour = toCount(written?.ephemeral_1h_input_tokens);
  return {
    inputTokens: toCount(report.input_tokens),
    outputTokens: toCount(report.output_tokens),
    cacheReadTokens: toCount(report.cache_read_input_tokens),
    cacheWriteTokens: toCount(report.cache_creation_input_tokens) ?? sumKnownCounts(brief, hour),
    cacheWriteHourTokens: hour === 0 ? undefined : hour,
    reasoningTokens: toCount(toObject(report.output_tokens_details)?.thinking_tokens),
  };
}

/** The iterations of a reply that its counts leave out: those of an advisor's model, and compactions. */
function parseOtherCalls(report: WireObject, factor: number | undefined): readonly OtherCall[] {
  return toArray(report.iterations).flatMap((value) => {
    const iteration = toObject(value);
    if (!iteration || iteration.type === "message") return [];
    const model = toText(iteration.model);
    const own = findPriceFactor(iteration, true) ?? (model === undefined ? factor : undefined);
    const usage = toUsage({ ...parseCounts(iteration), priceFactor: own === 1 ? undefined : own });
    return usage ? [{ ...usage, ...dropUndefined({ model }) }] : [];
  });
}
