import type { Entry, UsageBody } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Usage } from "../../model/usage.ts";
import { untaught } from "../tokens/calibration.ts";
import { type Gauge, gauge } from "../tokens/gauge.ts";
import { startFactor } from "../tokens/start-factor.ts";
import type { LastRequest } from "./cache-state.ts";

/** No tokenizer counts so little: such a report is of another request, or made up. */
const LEAST_RATIO = 0.3;

/** How estimates and a provider's counts of one model compare, learned from the reports in the log. */
export class Meter {
  readonly #model: string;
  #gauge: Gauge;
  #last: LastRequest | undefined;

  constructor(model: string) {
    this.#model = model;
    this.#gauge = gauge({ calibration: untaught(startFactor(model)) });
  }

  /** The latest request of any model, as far as reported. */
  get last(): LastRequest | undefined {
    return this.#last;
  }

  /** Estimated tokens as the provider would count them. */
  counted(estimated: number): number {
    return this.#gauge.counted(estimated);
  }

  /** The most that may be estimated so that the provider surely counts no more than `tokens`. */
  estimatedWithin(tokens: number): number {
    return this.#gauge.estimatedWithin(tokens);
  }

  /** Learns from a report in the log; oldest first. */
  learn({ at, usage, model, meta }: Pick<Entry<UsageBody>, "at" | "usage" | "model" | "meta">): void {
    if (isSummaryUsage({ meta })) return;
    this.#last = { at, usage, ...(model !== undefined && { model }) };
    const estimated = estimatedIn(meta);
    if (estimated !== undefined && (model === undefined || model === this.#model))
      this.learnCount(estimated, promptTokens(usage));
  }

  /** Learns what a provider counted without a report, as in an overflow error. */
  learnCount(estimated: number, counted: number): void {
    if (counted < estimated * LEAST_RATIO) return;
    this.#gauge = this.#gauge.observe(estimated, counted);
  }
}

/** What a usage entry of ours carries so that others can learn from it: what was estimated for the request. */
export function remark(estimatedTokens: number): Pick<UsageBody, "meta"> {
  return estimatedTokens > 0 ? { meta: { longhaul: { estimatedTokens } } } : {};
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

/** Tokens of a prompt, wherever they were read from. */
export function promptTokens({ inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function estimatedIn(meta: { readonly [key: string]: Json } | undefined): number | undefined {
  const estimatedTokens = ownMeta(meta)?.estimatedTokens;
  return typeof estimatedTokens === "number" ? estimatedTokens : undefined;
}

function ownMeta(meta: { readonly [key: string]: Json } | undefined) {
  const own = meta?.longhaul;
  if (typeof own !== "object" || own === null || Array.isArray(own)) return undefined;
  return own as { readonly [key: string]: Json };
}
