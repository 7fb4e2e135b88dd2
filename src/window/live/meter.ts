import type { Entry, UsageBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Usage } from "../../model/usage.ts";
import { createCalibrationState } from "../tokens/calibration.ts";
import { createGauge } from "../tokens/gauge.ts";
import { type LearnedCounts, learnCount } from "../tokens/learned-counts.ts";
import { chooseStartFactor } from "../tokens/start-factor.ts";
import type { LastRequest } from "./cache-state.ts";

/** Relates estimates to a provider's counts for one model, learned from the reports in the log. */
export class Meter {
  readonly #model: string;
  #learned: LearnedCounts;
  #last: LastRequest | undefined;

  constructor(model: string) {
    this.#model = model;
    this.#learned = { gauge: createGauge({ calibration: createCalibrationState(chooseStartFactor(model)) }) };
  }

  /** The latest reported request of any model. */
  get last(): LastRequest | undefined {
    return this.#last;
  }

  /** Converts estimated tokens to the provider's count. */
  counted(estimated: number): number {
    return this.#learned.gauge.counted(estimated);
  }

  /** The largest estimate for which the provider is certain to count at most `tokens`. */
  estimatedWithin(tokens: number): number {
    return this.#learned.gauge.estimatedWithin(tokens);
  }

  /** Learns from a report in the log; call it oldest first. */
  learn({ at, usage, model, meta }: Pick<Entry<UsageBody>, "at" | "usage" | "model" | "meta">): void {
    const own = getOwnMeta(meta);
    if (own?.isSummary) return;
    this.#last = { at, usage, ...(model !== undefined && { model }) };
    const { estimatedTokens, isUnreliable } = own ?? {};
    if (typeof estimatedTokens !== "number" || isUnreliable === true) return;
    if (model === undefined || model === this.#model)
      this.learnCount(estimatedTokens, countPromptTokens(usage));
  }

  /** Learns a count that came without a report, as in an overflow error, if it is plausible. */
  learnCount(estimated: number, counted: number): void {
    this.#learned = learnCount(this.#learned, { estimated, counted });
  }
}

/** Estimated tokens of a request that are in no message: system prompt, tools, and memories. */
interface RequestFrameTokens {
  readonly system: number;
  readonly tools: number;
  readonly memories?: { readonly agent: string; readonly tokens: number } | undefined;
}

/**
 * Metadata of a usage entry: the estimated tokens of its request, from which other handles learn, its frame, and a mark
 * that keeps them from learning from an unreliable report.
 */
export function buildUsageMeta(
  estimatedTokens: number,
  isUnreliable = false,
  { system, tools, memories }: RequestFrameTokens = { system: 0, tools: 0 },
): Pick<UsageBody, "meta"> {
  if (!(estimatedTokens > 0)) return {};
  const isFramed = system + tools > 0 || memories !== undefined;
  const frame = {
    ...(isFramed && { systemTokens: system + (memories?.tokens ?? 0), toolsTokens: tools }),
    ...(memories && { memoriesOf: memories.agent, memoriesTokens: memories.tokens }),
  };
  return { meta: { longhaul: { estimatedTokens, ...frame, ...(isUnreliable && { isUnreliable }) } } };
}

/** The frame of a reported request; undefined if the report does not tell it. */
export function readFrameTokens({
  meta,
}: {
  readonly meta?: UsageBody["meta"] | undefined;
}): RequestFrameTokens | undefined {
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
export function isSummaryUsage({ meta }: { readonly meta?: UsageBody["meta"] | undefined }): boolean {
  return getOwnMeta(meta)?.isSummary === true;
}

/** True for the usage of a call whose summary was rejected. */
export function isRefusedSummary({ meta }: { readonly meta?: UsageBody["meta"] | undefined }): boolean {
  return getOwnMeta(meta)?.isRefused === true;
}

/** Total prompt tokens, cached or not; NaN if a count is invalid. */
export function countPromptTokens({
  inputTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: Usage): number {
  const counts = [inputTokens, cacheReadTokens, cacheWriteTokens];
  const areCounts = counts.every((count) => Number.isFinite(count) && count >= 0);
  return areCounts ? counts.reduce((sum, count) => sum + count) : Number.NaN;
}

function getOwnMeta(meta: { readonly [key: string]: Json } | undefined) {
  const own = meta?.longhaul;
  if (typeof own !== "object" || own === null || Array.isArray(own)) return undefined;
  return own as { readonly [key: string]: Json };
}
