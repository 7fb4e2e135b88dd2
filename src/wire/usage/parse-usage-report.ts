import { checkKind } from "../../model/argument-checks.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { Usage } from "../../model/usage.ts";

/** The supported APIs; many other providers use one of them. */
export const REPORTING_APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

export type ReportingApi = (typeof REPORTING_APIS)[number];

type Fields = Readonly<Record<string, unknown>>;
type Counts = { readonly [Field in keyof Usage]?: Usage[Field] | undefined };

const READERS: Readonly<Record<ReportingApi, (report: Fields) => Counts>> = {
  anthropic: parseAnthropicUsage,
  "openai-chat": parseChatUsage,
  "openai-responses": parseResponsesUsage,
  google: parseGoogleUsage,
};

/**
 * Converts a provider's usage report: the `usage` object of a response or stream event, or `usageMetadata` for Google.
 * Undefined if it contains no count.
 */
export function parseUsageReport(api: ReportingApi, report: unknown): Usage | undefined {
  if (!REPORTING_APIS.includes(api))
    throw createArgumentError("api", api, `one of ${REPORTING_APIS.join(", ")}`);
  const counts = READERS[api](toFields(report));
  const told = Object.entries(counts).filter(([, count]) => count !== undefined);
  return told.length > 0 ? Object.fromEntries(told) : undefined;
}

/**
 * Merges a later report of the same stream into an earlier one. Reports are cumulative, so the later one wins, except
 * where it omits a count or reports 0.
 */
export function mergeUsage(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined {
  for (const [option, usage] of Object.entries({ earlier, later }))
    if (usage !== undefined) checkKind(option, usage, "object");
  if (!earlier || !later) return later ?? earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, count]) => count !== 0)) };
}

function parseAnthropicUsage(report: Fields): Counts {
  const written = toFields(report.cache_creation);
  const [brief, hour] = [
    toCount(written.ephemeral_5m_input_tokens),
    toCount(written.ephemeral_1h_input_tokens),
  ];
  return {
    inputTokens: toCount(report.input_tokens),
    outputTokens: toCount(report.output_tokens),
    cacheReadTokens: toCount(report.cache_read_input_tokens),
    cacheWriteTokens: toCount(report.cache_creation_input_tokens) ?? addCounts(brief, hour),
    cacheWriteHourTokens: hour,
    reasoningTokens: toCount(toFields(report.output_tokens_details).thinking_tokens),
  };
}

function parseChatUsage(report: Fields): Counts {
  const input = toFields(report.prompt_tokens_details);
  const output = toCount(report.completion_tokens);
  const reasoning = toCount(toFields(report.completion_tokens_details).reasoning_tokens);
  return {
    ...toInputCounts(
      toCount(report.prompt_tokens),
      toCount(input.cached_tokens) ?? toCount(report.prompt_cache_hit_tokens),
      toCount(input.cache_write_tokens),
    ),
    // Some providers do not include reasoning in the completion count; their total shows it.
    outputTokens:
      reasoning !== undefined &&
      report.total_tokens === addCounts(toCount(report.prompt_tokens), output, reasoning)
        ? addCounts(output, reasoning)
        : output,
    reasoningTokens: reasoning,
    cost: toCount(report.cost),
  };
}

function parseResponsesUsage(report: Fields): Counts {
  const input = toFields(report.input_tokens_details);
  return {
    ...toInputCounts(
      toCount(report.input_tokens),
      toCount(input.cached_tokens),
      toCount(input.cache_write_tokens),
    ),
    outputTokens: toCount(report.output_tokens),
    reasoningTokens: toCount(toFields(report.output_tokens_details).reasoning_tokens),
    cost: toCount(report.cost),
  };
}

/** Google counts thoughts, and the tokens that its own tools add to the prompt, separately. */
function parseGoogleUsage(report: Fields): Counts {
  const thoughts = toCount(report.thoughtsTokenCount);
  return {
    ...toInputCounts(
      addCounts(toCount(report.promptTokenCount), toCount(report.toolUsePromptTokenCount)),
      toCount(report.cachedContentTokenCount),
      undefined,
    ),
    outputTokens: addCounts(toCount(report.candidatesTokenCount), thoughts),
    reasoningTokens: thoughts,
  };
}

/** All APIs but Anthropic's include cached tokens in the input count. */
function toInputCounts(
  all: number | undefined,
  read: number | undefined,
  written: number | undefined,
): Counts {
  return {
    inputTokens: all === undefined ? undefined : Math.max(0, all - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function addCounts(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : undefined;
}
