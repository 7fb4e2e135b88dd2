import type { Entry, UsageBody } from "../../model/entry.ts";
import { createCalibrationState } from "../tokens/calibration.ts";
import { createGauge } from "../tokens/gauge.ts";
import { type LearnedCounts, learnCount } from "../tokens/learned-counts.ts";
import { chooseStartFactor } from "../tokens/start-factor.ts";
import {
  countPromptTokens,
  isSummaryUsage,
  readEstimatedTokens,
  readRequestSizes,
} from "../usage/usage-meta.ts";
import type { LastRequest } from "./cache-state.ts";

/** Relates estimates to a provider's counts for one model, learned from the reports in the log. */
export class Meter {
  readonly #model: string;
  #learned: LearnedCounts;
  #last: LastRequest | undefined;
  #uneditedTokens = 0;

  constructor(model: string) {
    this.#model = model;
    this.#learned = { gauge: createGauge({ calibration: createCalibrationState(chooseStartFactor(model)) }) };
  }

  /** The latest reported request of any model. */
  get last(): LastRequest | undefined {
    return this.#last;
  }

  /** Estimated tokens of the model's latest reported request without edits; 0 if unknown. */
  get uneditedTokens(): number {
    return this.#uneditedTokens;
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
    if (isSummaryUsage({ meta })) return;
    this.#last = { at, usage, ...(model !== undefined && { model }) };
    const estimatedTokens = readEstimatedTokens({ meta });
    if (estimatedTokens === undefined) return;
    if (model !== undefined && model !== this.#model) return;
    this.#uneditedTokens = readRequestSizes({ meta })?.uneditedTokens ?? 0;
    this.learnCount(estimatedTokens, countPromptTokens(usage));
  }

  /** Learns a count that came without a report, as in an overflow error, if it is plausible. */
  learnCount(estimated: number, counted: number): void {
    this.#learned = learnCount(this.#learned, { estimated, counted });
  }
}
