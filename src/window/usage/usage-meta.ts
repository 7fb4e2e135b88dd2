import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { UsageBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import { sumPromptTokens, type Usage } from "../../model/usage.ts";

type WithMeta = { readonly meta?: UsageBody["meta"] | undefined };

/** Estimated tokens of a request that are in no message: system prompt, tools, and memories. */
interface RequestFrameTokens {
  readonly system: number;
  readonly tools: number;
  readonly memories?: { readonly agent: string; readonly tokens: number } | undefined;
}

/** Estimated sizes of a reported request, from which its savings are computed. */
export interface RequestSizes {
  readonly estimatedTokens: number;
  /** The same request without edits of the window and without additions. */
  readonly uneditedTokens: number;
  /** The unedited size of the request before, if the window was edited for this one; 0 if there was none. */
  readonly priorTokens?: number;
  /** True if the provider's cache of the request before was hot. */
  readonly isHot: boolean;
  /** Time before the request was sent; 0 if unknown. */
  readonly overheadMs: number;
  /** Number of times that it was sent again with another window; 0 if absent. */
  readonly retries?: number;
}

/**
 * Metadata of a usage entry: the estimated sizes of its request, from which other handles learn, its frame, and a mark
 * that keeps them from learning from an unreliable report.
 */
export function buildUsageMeta(
  { estimatedTokens, uneditedTokens, priorTokens, isHot, overheadMs, retries = 0 }: RequestSizes,
  isUnreliable = false,
  { system, tools, memories }: RequestFrameTokens = { system: 0, tools: 0 },
): Pick<UsageBody, "meta"> {
  if (!(estimatedTokens > 0)) return {};
  const isFramed = system + tools > 0 || memories !== undefined;
  const frame = {
    ...(isFramed && { systemTokens: system + (memories?.tokens ?? 0), toolsTokens: tools }),
    ...(memories && { memoriesOf: memories.agent, memoriesTokens: memories.tokens }),
  };
  const sizes = dropUndefined({
    estimatedTokens,
    uneditedTokens,
    ...(priorTokens !== undefined && { priorTokens, ...(isHot && { isHot }) }),
    overheadMs: overheadMs > 0 ? Math.round(overheadMs * 10) / 10 : undefined,
    retries: retries > 0 ? retries : undefined,
  });
  return { meta: { longhaul: { ...sizes, ...frame, ...(isUnreliable && { isUnreliable }) } } };
}

/** The sizes of a reported request; undefined if the report does not tell them or its count covers more. */
export function readRequestSizes(report: WithMeta): RequestSizes | undefined {
  const estimatedTokens = readEstimatedTokens(report);
  const { uneditedTokens, priorTokens, isHot, overheadMs } = getOwnMeta(report.meta) ?? {};
  if (estimatedTokens === undefined || !isSize(uneditedTokens)) return undefined;
  return {
    estimatedTokens,
    uneditedTokens,
    ...(isSize(priorTokens) && { priorTokens }),
    isHot: isHot === true,
    overheadMs: isSize(overheadMs) ? overheadMs : 0,
  };
}

/** Number of times that longhaul sent a reported request again before it was answered. */
export function readRetries({ meta }: WithMeta): number {
  const { retries } = getOwnMeta(meta) ?? {};
  return isSize(retries) ? retries : 0;
}

/** The estimated tokens of a reported request; undefined if unknown or if the count covers more than the request. */
export function readEstimatedTokens({ meta }: WithMeta): number | undefined {
  const { estimatedTokens, isUnreliable } = getOwnMeta(meta) ?? {};
  return typeof estimatedTokens === "number" && estimatedTokens > 0 && isUnreliable !== true
    ? estimatedTokens
    : undefined;
}

/** The frame of a reported request; undefined if the report does not tell it. */
export function readFrameTokens({ meta }: WithMeta): RequestFrameTokens | undefined {
  const { systemTokens, toolsTokens, memoriesOf, memoriesTokens = 0 } = getOwnMeta(meta) ?? {};
  if (!isSize(systemTokens) || !isSize(toolsTokens) || !isSize(memoriesTokens)) return undefined;
  return {
    system: Math.max(0, systemTokens - memoriesTokens),
    tools: toolsTokens,
    ...(typeof memoriesOf === "string" && { memories: { agent: memoriesOf, tokens: memoriesTokens } }),
  };
}

function isSize(value: Json | undefined): value is number {
  return typeof value === "number" && value >= 0;
}

/** Marks the usage of a call that made a summary, which says nothing about the session's own window and cache. */
export const SUMMARY_META = { longhaul: { isSummary: true } } as const;

/** Marks the usage of a summary that was rejected because it would not have made the window smaller. */
export const REFUSED_SUMMARY_META = { longhaul: { isSummary: true, isRefused: true } } as const;

/** True for the usage of a call that made a summary. */
export function isSummaryUsage({ meta }: WithMeta): boolean {
  return getOwnMeta(meta)?.isSummary === true;
}

/** True for the sum of many requests. */
export function isSumUsage({ meta }: WithMeta): boolean {
  return getOwnMeta(meta)?.isSum === true;
}

/** True for the usage of a call whose summary was rejected. */
export function isRefusedSummary({ meta }: WithMeta): boolean {
  return getOwnMeta(meta)?.isRefused === true;
}

/** Tokens of a window as its provider counted them: all prompt tokens, cached or not; NaN if a count is invalid. */
export function countPromptTokens(usage: Usage): number {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const sum = sumPromptTokens(usage);
  return Number.isFinite(sum) && Math.min(inputTokens, cacheReadTokens, cacheWriteTokens) >= 0
    ? sum
    : Number.NaN;
}

function getOwnMeta(meta: { readonly [key: string]: Json } | undefined) {
  const own = meta?.longhaul;
  if (typeof own !== "object" || own === null || Array.isArray(own)) return undefined;
  return own as { readonly [key: string]: Json };
}
