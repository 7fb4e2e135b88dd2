import { DEFAULT_THRESHOLD } from "../../model/default-threshold.ts";
import { createArgumentError } from "../../model/errors.ts";

/** When a session is compacted automatically. */
export interface TriggerOptions {
  /** Percentage of the model's window, 5 to 100; default 75. The models table overrides it. */
  readonly threshold?: number;
  /** Number of messages in the window; default 200, Infinity for no limit. The models table overrides it. */
  readonly maxMessages?: number;
  /** Turns since the last summary; unlimited unless the policy or the models table limits them. */
  readonly maxTurns?: number;
  /** Percentage of the threshold at which a summary is prepared in the background; default 80. */
  readonly prepareAt?: number;
}

/** Do nothing, start to prepare a summary, or apply one. */
type CompactionAction = "none" | "prepare" | "compact";

/** Size of a conversation by both measures that can trigger a summary. */
export interface Amount {
  readonly tokens: number;
  readonly messages: number;
}

/** State of a window before a call that decides about a summary; tokens as the provider counts them. */
interface WindowState extends Amount {
  /** The model's window. */
  readonly window: number;
  /** Turns in the window. */
  readonly turns: number;
  /** True if the request is too large to send. */
  readonly isForced: boolean;
  /** The part of the window that a summary would replace. */
  readonly removable: Amount;
  /** The latest attempt to summarize; undefined if there was none. */
  readonly last?: LastAttempt | undefined;
}

/** The latest attempt to summarize a session, whatever its outcome. */
export interface LastAttempt {
  /** The amount it removed from the window; zero if its summary was rejected. */
  readonly freed: Amount;
  /** Growth of the conversation since the attempt. */
  readonly grown: Amount;
  /** Turns since the attempt. */
  readonly turns: number;
}

const PREPARE_AT = 80;
const MAX_MESSAGES = 200;
/** Minimum share of the window that a summary must replace, and that the window must grow by between two attempts. */
const MIN_PROGRESS = 0.05;
/** The same share between two attempts if the earlier one freed less than `MIN_PROGRESS`. */
const MIN_GROWTH_AFTER_FAILURE = 0.2;

/**
 * Decides whether a window needs a summary. Two attempts are always a share of the window apart, so their number is
 * bounded by the length of the conversation: a first request or pins above the threshold do not trigger a summary on
 * every call.
 */
export function chooseCompactionAction(state: WindowState, options: TriggerOptions): CompactionAction {
  const { threshold = DEFAULT_THRESHOLD, prepareAt = PREPARE_AT, maxMessages = MAX_MESSAGES } = options;
  const { maxTurns = Number.POSITIVE_INFINITY } = options;
  const share = (state.tokens / state.window) * 100;
  const needs: readonly CompactionAction[] = [
    canSummaryHelp(state, "tokens", state.window)
      ? chooseActionAt(state.isForced ? 1 : share / threshold, prepareAt / 100)
      : "none",
    canSummaryHelp(state, "messages", maxMessages)
      ? chooseActionAt(state.messages / (maxMessages + 1), prepareAt / 100)
      : "none",
    // A few short turns are not worth a summary.
    state.removable.tokens >= state.window * MIN_PROGRESS
      ? chooseActionAt((state.last?.turns ?? state.turns) / maxTurns, prepareAt / 100)
      : "none",
  ];
  return needs.find((need) => need === "compact") ?? needs.find((need) => need === "prepare") ?? "none";
}

/**
 * True if a summary can free a real share of the window and the conversation has grown enough since the latest attempt.
 */
function canSummaryHelp(
  { removable, last }: Pick<WindowState, "removable" | "last">,
  measure: keyof Amount,
  whole: number,
): boolean {
  if (removable[measure] < whole * MIN_PROGRESS) return false;
  if (!last) return true;
  const isProgress = last.freed[measure] >= whole * MIN_PROGRESS;
  return last.grown[measure] >= whole * (isProgress ? MIN_PROGRESS : MIN_GROWTH_AFTER_FAILURE);
}

function chooseActionAt(share: number, prepareAt: number): CompactionAction {
  if (share >= 1) return "compact";
  return share >= prepareAt ? "prepare" : "none";
}

/** Throws ARGUMENT_INVALID for values out of range. */
export function checkTrigger({ threshold, maxMessages, maxTurns, prepareAt }: TriggerOptions): void {
  const isShare = (value: number | undefined, least: number) =>
    value === undefined || (value >= least && value <= 100);
  if (!isShare(threshold, 5)) throw createArgumentError("threshold", threshold, "5 to 100, in percent");
  if (!isShare(prepareAt, 1)) throw createArgumentError("prepareAt", prepareAt, "1 to 100, in percent");
  const isCount = (value: number | undefined, least: number) =>
    value === undefined ||
    (value >= least && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY));
  if (!isCount(maxMessages, 2))
    throw createArgumentError("maxMessages", maxMessages, "a whole number from 2 on, or Infinity");
  if (!isCount(maxTurns, 1))
    throw createArgumentError("maxTurns", maxTurns, "a whole number from 1 on, or Infinity");
}
