import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { ModelFacts } from "../models/model-data.ts";

/** Limits of a window in addition to the model's. */
export interface LimitOptions {
  /**
   * Tokens kept free for the reply; by default an eighth of the window, at most 32,000 and the model's output limit.
   */
  readonly reserveTokens?: number;
  /**
   * Output tokens that requests ask for. Up to a quarter of the window, they replace the default reserve; beyond that,
   * the default applies, to leave room for messages.
   */
  readonly maxOutputTokens?: number;
  /** Percentage of the model's window at which it is edited at the latest, 5 to 100; none by default. */
  readonly threshold?: number;
  /** Maximum number of messages in a window; unlimited by default. */
  readonly maxMessages?: number;
}

/** The limits of a window, in tokens as the provider counts them. */
export interface WindowLimits {
  readonly window: number;
  readonly reserve: number;
  /** Maximum tokens of a request. */
  readonly most: number;
  /** Size at which edits begin at the latest. */
  readonly from: number;
  readonly messages?: number;
}

const MAX_USUAL_RESERVE = 32_000;
/** A larger share would leave too little room for messages, so the default reserve applies instead. */
const MAX_ASKED_SHARE = 0.25;

/** The limits that a model and the options set. */
export function computeWindowLimits(facts: ModelFacts, options: LimitOptions): WindowLimits {
  const { window, maxOutput } = facts;
  const { threshold = 100, maxMessages } = options;
  if (!(threshold >= 5 && threshold <= 100))
    throw createArgumentError("threshold", threshold, "5 to 100, in percent of the model's window");
  if (maxMessages !== undefined && !(Number.isInteger(maxMessages) && maxMessages >= 2))
    throw createArgumentError("maxMessages", maxMessages, "a whole number from 2 on");
  const { maxOutputTokens: asked = Number.POSITIVE_INFINITY } = options;
  const usual = Math.min(maxOutput, Math.ceil(window / 8), MAX_USUAL_RESERVE);
  const reserve = options.reserveTokens ?? (asked > 0 && asked <= window * MAX_ASKED_SHARE ? asked : usual);
  if (!(reserve >= 0 && reserve < window))
    throw createArgumentError("reserveTokens", reserve, `less than the model's window of ${window} tokens`);
  const most = window - reserve;
  return {
    window,
    reserve,
    most,
    from: Math.min(most, Math.floor((window * threshold) / 100)),
    ...dropUndefined({ messages: maxMessages }),
  };
}
