import { checkKind } from "../../model/arguments.ts";
import { invalidArgument } from "../../model/errors.ts";
import type { Usage } from "../../model/usage.ts";

/** The supported APIs; many other providers use one of them. */
export const REPORTING_APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

export type ReportingApi = (typeof REPORTING_APIS)[number];

type Fields = Readonly<Record<string, unknown>>;
type Counts = { readonly [Field in keyof Usage]?: Usage[Field] | undefined };

const READERS: Readonly<Record<ReportingApi, (report: Fields) => Counts>> = {
  anthropic: usageOfAnthropic,
  "openai-chat": usageOfChat,
  "openai-responses": usageOfResponses,
  google: usageOfGoogle,
};

/**
 * Converts a provider's usage report: the `usage` object of a response or stream event, or `usageMetadata` for Google.
 * Undefined if it contains no count.
 */
export function usageOfReport(api: ReportingApi, report: unknown): Usage | undefined {
  if (!REPORTING_APIS.includes(api)) throw invalidArgument("api", api, `one of ${REPORTING_APIS.join(", ")}`);
  const counts = READERS[api](fieldsOf(report));
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

function usageOfAnthropic(report: Fields): Counts {
  const written = fieldsOf(report.cache_creation);
  const [brief, hour] = [
    countOf(written.ephemeral_5m_input_tokens),
    countOf(written.ephemeral_1h_input_tokens),
  ];
  return {
    inputTokens: countOf(report.input_tokens),
    outputTokens: countOf(report.output_tokens),
    cacheReadTokens: countOf(report.cache_read_input_tokens),
    cacheWriteTokens: countOf(report.cache_creation_input_tokens) ?? sumOf(brief, hour),
    cacheWriteHourTokens: hour,
    reasoningTokens: countOf(fieldsOf(report.output_tokens_details).thinking_tokens),
  };
}

function usageOfChat(report: Fields): Counts {
  const input = fieldsOf(report.prompt_tokens_details);
  const output = countOf(report.completion_tokens);
  const reasoning = countOf(fieldsOf(report.completion_tokens_details).reasoning_tokens);
  return {
    ...inputOf(
      countOf(report.prompt_tokens),
      countOf(input.cached_tokens) ?? countOf(report.prompt_cache_hit_tokens),
      countOf(input.cache_write_tokens),
    ),
    // Some providers do not include reasoning in the completion count; their total shows it.
    outputTokens:
      reasoning !== undefined &&
      report.total_tokens === sumOf(countOf(report.prompt_tokens), output, reasoning)
        ? sumOf(output, reasoning)
        : output,
    reasoningTokens: reasoning,
    cost: countOf(report.cost),
  };
}

function usageOfResponses(report: Fields): Counts {
  const input = fieldsOf(report.input_tokens_details);
  return {
    ...inputOf(countOf(report.input_tokens), countOf(input.cached_tokens), countOf(input.cache_write_tokens)),
    outputTokens: countOf(report.output_tokens),
    reasoningTokens: countOf(fieldsOf(report.output_tokens_details).reasoning_tokens),
    cost: countOf(report.cost),
  };
}

/** Google counts thoughts, and the tokens that its own tools add to the prompt, separately. */
function usageOfGoogle(report: Fields): Counts {
  const thoughts = countOf(report.thoughtsTokenCount);
  return {
    ...inputOf(
      sumOf(countOf(report.promptTokenCount), countOf(report.toolUsePromptTokenCount)),
      countOf(report.cachedContentTokenCount),
      undefined,
    ),
    outputTokens: sumOf(countOf(report.candidatesTokenCount), thoughts),
    reasoningTokens: thoughts,
  };
}

/** All APIs but Anthropic's include cached tokens in the input count. */
function inputOf(all: number | undefined, read: number | undefined, written: number | undefined): Counts {
  return {
    inputTokens: all === undefined ? undefined : Math.max(0, all - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function sumOf(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : undefined;
}
