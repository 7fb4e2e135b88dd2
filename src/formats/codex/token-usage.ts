import { computeFingerprint } from "../../base/digest.ts";
import type { Json, Usage } from "../../index.ts";
import { dropUndefined, toNumber, toObject } from "../../wire/fields.ts";
import { isEmpty, nonEmptyFields } from "../content/non-empty-fields.ts";
import type { RecordBody } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** The last report, to recognize repeats. */
export type UsageState = {
  /** The running total as JSON. */
  readonly total?: string;
  readonly last?: string;
  readonly limits?: string;
  readonly window?: number;
};

/** Result of decoding a token report. */
interface TokenReport {
  readonly state: UsageState;
  /** Undefined if the report has nothing new. */
  readonly body?: RecordBody;
}

/** Decodes a token report. It counts as a request only if the running total has changed. */
export function decodeTokenReport(payload: JsonObject, before: UsageState, model?: string): TokenReport {
  const info = toObject(payload.info);
  const last = toObject(info?.last_token_usage);
  const total = toObject(info?.total_token_usage);
  const limits = isEmpty(payload.rate_limits)
    ? undefined
    : computeFingerprint(JSON.stringify(payload.rate_limits));
  const window = toNumber(info?.model_context_window);
  const state: UsageState = dropUndefined({
    total: total ? JSON.stringify(total) : before.total,
    last: last ? JSON.stringify(last) : before.last,
    limits: limits ?? before.limits,
    window: window ?? before.window,
  });
  const isRequest = last !== undefined && (total === undefined || state.total !== before.total);
  const news = {
    ...nonEmptyFields(payload, ["type", "info", "rate_limits"]),
    ...(info && nonEmptyFields(info, ["last_token_usage", "total_token_usage", "model_context_window"])),
    ...(state.limits !== before.limits && { rate_limits: payload.rate_limits as Json }),
    ...(state.window !== before.window && window !== undefined && { model_context_window: window }),
    ...(total && isRequest && !isSum(total, last, before) && { total_token_usage: total as Json }),
    ...(last && !isRequest && state.last !== before.last && { last_token_usage: last as Json }),
  };
  const hasNews = Object.keys(news).length > 0;
  if (isRequest) {
    const meta = hasNews ? { meta: { codex: news } } : {};
    return { state, body: { kind: "usage", usage: toUsage(last), ...dropUndefined({ model }), ...meta } };
  }
  if (!hasNews) return { state };
  return { state, body: { kind: "raw", value: { type: "token_count", ...news } } };
}

/** Converts usage: OpenAI counts cache reads and writes as input. */
function toUsage(counts: JsonObject): Usage {
  const input = toNumber(counts.input_tokens);
  const cacheReadTokens = toNumber(counts.cached_input_tokens);
  const cacheWriteTokens = toNumber(counts.cache_write_input_tokens);
  return dropUndefined({
    inputTokens:
      input === undefined ? undefined : Math.max(0, input - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0)),
    outputTokens: toNumber(counts.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: toNumber(counts.reasoning_output_tokens),
  });
}

/** True if the total is the previous total plus this request, so it need not be kept. */
function isSum(total: JsonObject, last: JsonObject, before: UsageState): boolean {
  const earlier = before.total === undefined ? {} : (JSON.parse(before.total) as JsonObject);
  return Object.entries(total).every(
    ([name, value]) => value === (toNumber(earlier[name]) ?? 0) + (toNumber(last[name]) ?? 0),
  );
}
