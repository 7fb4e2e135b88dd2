import type { Entry, UsageBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Usage } from "../../model/usage.ts";
import { untaught } from "../tokens/calibration.ts";
import { gauge } from "../tokens/gauge.ts";
import { type LearnedCounts, learnCount } from "../tokens/plausible.ts";
import { startFactor } from "../tokens/start-factor.ts";
import type { LastRequest } from "./cache-state.ts";

/** How estimates and a provider's counts of one model compare, learned from the reports in the log. */
export class Meter {
  readonly #model: string;
  #learned: LearnedCounts;
  #last: LastRequest | undefined;

  constructor(model: string) {
    this.#model = model;
    this.#learned = { gauge: gauge({ calibration: untaught(startFactor(model)) }) };
  }

  /** The latest request of any model, as far as reported. */
  get last(): LastRequest | undefined {
    return this.#last;
  }

  /** Estimated tokens as the provider would count them. */
  counted(estimated: number): number {
    return this.#learned.gauge.counted(estimated);
  }

  /** The most that may be estimated so that the provider surely counts no more than `tokens`. */
  estimatedWithin(tokens: number): number {
    return this.#learned.gauge.estimatedWithin(tokens);
  }

  /** Learns from a report in the log; oldest first. */
  learn({ at, usage, model, meta }: Pick<Entry<UsageBody>, "at" | "usage" | "model" | "meta">): void {
    const own = ownMeta(meta);
    if (own?.isSummary) return;
    this.#last = { at, usage, ...(model !== undefined && { model }) };
    const { estimatedTokens, isUnreliable } = own ?? {};
    if (typeof estimatedTokens !== "number" || isUnreliable === true) return;
    if (model === undefined || model === this.#model) this.learnCount(estimatedTokens, promptTokens(usage));
  }

  /** Learns what a provider counted without a report, as in an overflow error, if it can be true. */
  learnCount(estimated: number, counted: number): void {
    this.#learned = learnCount(this.#learned, { estimated, counted });
  }
}

/**
 * Meta of a usage entry: the tokens that were estimated for its request, so that others can learn from it, and whether
 * the report is unreliable, so that nobody does.
 */
export function remark(estimatedTokens: number, isUnreliable = false): Pick<UsageBody, "meta"> {
  if (!(estimatedTokens > 0)) return {};
  return { meta: { longhaul: { estimatedTokens, ...(isUnreliable && { isUnreliable }) } } };
}

/** Marks usage of a call that made a summary: it says nothing of the session's own window and its cache. */
export const SUMMARY_REMARK = { longhaul: { isSummary: true } } as const;

/** The same for a summary that was refused because it would not have made the window smaller. */
export const REFUSED_SUMMARY_REMARK = { longhaul: { isSummary: true, isRefused: true } } as const;

/** True for usage of a call that made a summary. */
export function isSummaryUsage({ meta }: { readonly meta?: UsageBody["meta"] | undefined }): boolean {
  return ownMeta(meta)?.isSummary === true;
}

/** True for usage of a call that made a summary which was refused. */
export function isRefusedSummary({ meta }: { readonly meta?: UsageBody["meta"] | undefined }): boolean {
  return ownMeta(meta)?.isRefused === true;
}

/** Tokens of a prompt, wherever they were read from; NaN where a count cannot be one. */
export function promptTokens({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  const counts = [inputTokens, cacheReadTokens, cacheWriteTokens];
  const areCounts = counts.every((count) => Number.isFinite(count) && count >= 0);
  return areCounts ? counts.reduce((sum, count) => sum + count) : Number.NaN;
}

function ownMeta(meta: { readonly [key: string]: Json } | undefined) {
  const own = meta?.longhaul;
  if (typeof own !== "object" || own === null || Array.isArray(own)) return undefined;
  return own as { readonly [key: string]: Json };
}
