import { invalidArgument } from "../../model/errors.ts";

/** When a session is compacted by itself. */
export interface TriggerOptions {
  /** Share of the model's window in percent, 5 to 100; 80 by default. */
  readonly threshold?: number;
  /** Messages in the window; no limit by default, 200 is usual. */
  readonly maxMessages?: number;
  /** Share of the threshold, in percent, from which on a summary is prepared in the background; 80 by default. */
  readonly prepareAt?: number;
}

/** Nothing to do, begin to prepare a summary, or put it in place. */
export type Need = "none" | "prepare" | "compact";

const THRESHOLD = 80;
const PREPARE_AT = 80;

/** Says what a window needs. */
export function needOf(
  state: { readonly tokens: number; readonly window: number; readonly messages: number },
  options: TriggerOptions,
): Need {
  const { threshold = THRESHOLD, prepareAt = PREPARE_AT, maxMessages } = options;
  const share = (state.tokens / state.window) * 100;
  const count = maxMessages === undefined ? 0 : state.messages / maxMessages;
  if (share >= threshold || count > 1) return "compact";
  return share >= (threshold * prepareAt) / 100 || count >= prepareAt / 100 ? "prepare" : "none";
}

/** Throws ARGUMENT_INVALID for what is out of range. */
export function checkTrigger({ threshold, maxMessages, prepareAt }: TriggerOptions): void {
  const isShare = (value: number | undefined, least: number) =>
    value === undefined || (value >= least && value <= 100);
  if (!isShare(threshold, 5)) throw invalidArgument("threshold", threshold, "5 to 100, in percent");
  if (!isShare(prepareAt, 1)) throw invalidArgument("prepareAt", prepareAt, "1 to 100, in percent");
  if (maxMessages !== undefined && !(Number.isInteger(maxMessages) && maxMessages >= 2))
    throw invalidArgument("maxMessages", maxMessages, "a whole number from 2 on");
}
