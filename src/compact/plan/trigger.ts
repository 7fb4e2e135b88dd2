import { invalidArgument } from "../../model/errors.ts";

/** When a session is compacted by itself. */
export interface TriggerOptions {
  /** Share of the model's window in percent, 5 to 100; 80 by default. What the models table says of a model wins. */
  readonly threshold?: number;
  /** Messages in the window; 200 by default, Infinity for no limit. What the models table says of a model wins. */
  readonly maxMessages?: number;
  /** Share of the threshold, in percent, from which on a summary is prepared in the background; 80 by default. */
  readonly prepareAt?: number;
}

/** Nothing to do, begin to prepare a summary, or put it in place. */
export type Need = "none" | "prepare" | "compact";

/** An amount of conversation, by both measures that can trigger a summary. */
export interface Amount {
  readonly tokens: number;
  readonly messages: number;
}

/** A window before a call, as far as it decides about a summary; tokens as the provider counts them. */
export interface WindowState extends Amount {
  /** The model's window. */
  readonly window: number;
  /** True if the request is too large as it is. */
  readonly isForced: boolean;
  /** The part of the window that a summary would take the place of. */
  readonly removable: Amount;
  /** The latest attempt to summarize; undefined if there was none. */
  readonly last?: LastAttempt | undefined;
}

/** The latest attempt to summarize a session, whatever came of it. */
export interface LastAttempt {
  /** What it took out of the window; nothing if its summary was refused. */
  readonly freed: Amount;
  /** What was said since. */
  readonly grown: Amount;
}

const THRESHOLD = 80;
const PREPARE_AT = 80;
const MAX_MESSAGES = 200;
/** Share of the window that a summary has to take the place of, and that has to be said between two attempts. */
export const MIN_PROGRESS = 0.05;
/** The same between two attempts if the earlier one freed less than that. */
export const MIN_GROWTH_AFTER_FAILURE = 0.2;

/**
 * Decides whether a window needs a summary. Two attempts are always a share of the window apart, so their number is
 * bounded by what is said: a first request or pins above the threshold do not make every call summarize again.
 */
export function needOf(state: WindowState, options: TriggerOptions): Need {
  const { threshold = THRESHOLD, prepareAt = PREPARE_AT, maxMessages = MAX_MESSAGES } = options;
  const share = (state.tokens / state.window) * 100;
  const needs: readonly Need[] = [
    mayHelp(state, "tokens", state.window)
      ? needAt(state.isForced ? 1 : share / threshold, prepareAt / 100)
      : "none",
    mayHelp(state, "messages", maxMessages)
      ? needAt(state.messages / (maxMessages + 1), prepareAt / 100)
      : "none",
  ];
  return needs.find((need) => need === "compact") ?? needs.find((need) => need === "prepare") ?? "none";
}

/** Tells whether a summary can take a real share out of the window, and enough was said since the latest attempt. */
export function mayHelp(
  { removable, last }: Pick<WindowState, "removable" | "last">,
  measure: keyof Amount,
  whole: number,
): boolean {
  if (removable[measure] < whole * MIN_PROGRESS) return false;
  if (!last) return true;
  const isProgress = last.freed[measure] >= whole * MIN_PROGRESS;
  return last.grown[measure] >= whole * (isProgress ? MIN_PROGRESS : MIN_GROWTH_AFTER_FAILURE);
}

function needAt(share: number, prepareAt: number): Need {
  if (share >= 1) return "compact";
  return share >= prepareAt ? "prepare" : "none";
}

/** Throws ARGUMENT_INVALID for what is out of range. */
export function checkTrigger({ threshold, maxMessages, prepareAt }: TriggerOptions): void {
  const isShare = (value: number | undefined, least: number) =>
    value === undefined || (value >= least && value <= 100);
  if (!isShare(threshold, 5)) throw invalidArgument("threshold", threshold, "5 to 100, in percent");
  if (!isShare(prepareAt, 1)) throw invalidArgument("prepareAt", prepareAt, "1 to 100, in percent");
  const isCount = Number.isInteger(maxMessages) || maxMessages === Number.POSITIVE_INFINITY;
  if (maxMessages !== undefined && !(isCount && maxMessages >= 2))
    throw invalidArgument("maxMessages", maxMessages, "a whole number from 2 on, or Infinity");
}
