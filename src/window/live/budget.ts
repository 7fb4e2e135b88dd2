import { invalidArgument } from "../../model/errors.ts";
import type { ModelFacts } from "../models/facts.ts";

/** What limits a window besides the model. */
export interface LimitOptions {
  /** Tokens kept free for the reply; an eighth of the window by default, at most what the model can say. */
  readonly reserveTokens?: number;
  /** Output that requests ask for. It is kept free instead, up to a quarter of the window: the rest is for messages. */
  readonly maxOutputTokens?: number;
  /** Share of the model's window, in percent, from which on it is edited at the latest: 5 to 100. */
  readonly threshold?: number;
  /** Most messages of a window; no limit by default. */
  readonly maxMessages?: number;
}

/** The limits of a window in tokens as the provider counts them. */
export interface WindowLimits {
  readonly window: number;
  readonly reserve: number;
  /** Most that may be sent. */
  readonly most: number;
  /** Where edits begin at the latest. */
  readonly from: number;
  readonly messages?: number;
}

const MAX_USUAL_RESERVE = 32_000;
/** Who asks for a larger share of the window leaves no room to say anything; the usual reserve holds then. */
const MAX_ASKED_SHARE = 0.25;

/** The limits that a model and its options set. */
export function limitsOf(facts: ModelFacts, options: LimitOptions): WindowLimits {
  const { window, maxOutput } = facts;
  const { threshold = 100, maxMessages } = options;
  if (!(threshold >= 5 && threshold <= 100))
    throw invalidArgument("threshold", threshold, "5 to 100, in percent of the model's window");
  if (maxMessages !== undefined && !(Number.isInteger(maxMessages) && maxMessages >= 2))
    throw invalidArgument("maxMessages", maxMessages, "a whole number from 2 on");
  const { maxOutputTokens: asked = Number.POSITIVE_INFINITY } = options;
  const usual = Math.min(maxOutput, Math.ceil(window / 8), MAX_USUAL_RESERVE);
  const reserve = options.reserveTokens ?? (asked > 0 && asked <= window * MAX_ASKED_SHARE ? asked : usual);
  if (!(reserve >= 0 && reserve < window))
    throw invalidArgument("reserveTokens", reserve, `less than the model's window of ${window} tokens`);
  const most = window - reserve;
  return {
    window,
    reserve,
    most,
    from: Math.min(most, Math.floor((window * threshold) / 100)),
    ...(maxMessages !== undefined && { messages: maxMessages }),
  };
}
