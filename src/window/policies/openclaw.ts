import type { Answer } from "../answer.ts";
import { clearResults } from "../passes/clear-results.ts";
import { historyLimit, historyLimitOf } from "../passes/history-limit.ts";
import { trimResults, wordsOfResult } from "../passes/trim-results.ts";
import { truncate } from "../passes/truncate.ts";
import type { Policy } from "../policy.ts";
import type { Slot } from "../slot.ts";
import { windowIndex } from "../window-index.ts";
import { editPolicy } from "./edit-policy.ts";
import { percentOf } from "./percent.ts";

export interface OpenclawOptions {
  /** Percentage of the window at which half of the messages leave, 5 to 100; default 80. */
  readonly threshold?: number;
  /** Maximum number of messages; by default depends on the window size. */
  readonly messages?: number;
}

/** Only results before this many of the latest replies may be pruned. */
const KEPT_REPLIES = 3;
/** Share of the window from which long results are trimmed to head and tail. */
const TRIM_SHARE = 0.3;
const TRIM = { longerThan: 4_000, head: 1_500, tail: 1_500 } as const;
/** Share of the window that clearing the oldest results aims for. */
const CLEAR_SHARE = 0.5;
/** Clearing is skipped if it could remove fewer characters than this. */
const LEAST_CLEARED_CHARACTERS = 50_000;

/**
 * OpenClaw's policy: limits the number of messages by the window size, prunes old tool results once the provider's
 * cache has expired, and compacts at 80 %; without a model, compaction means that half of the messages leave.
 */
export function openclaw({ threshold = 80, messages }: OpenclawOptions = {}): Policy {
  const share = percentOf("threshold", threshold);
  const policy = editPolicy("openclaw", {
    head: "message",
    steps: [
      (_, { limits }) => historyLimit(messages ?? historyLimitOf(limits.window)),
      (slots, { isHot, limits, tokensWith }) => {
        const isDue = !isHot && tokensWith(slots) > limits.window * TRIM_SHARE;
        return isDue ? trimResults({ ...TRIM, isSpared: notPrunable(slots) }) : undefined;
      },
      (slots, { isHot, limits, tokensWith }) => {
        const enough = tokensWith(slots) - limits.window * CLEAR_SHARE;
        if (isHot || enough <= 0) return undefined;
        const isSpared = notPrunable(slots);
        const characters = windowIndex(slots).answers.reduce((sum, answer) => {
          return sum + (isSpared(answer) ? 0 : (wordsOfResult(answer.result)?.length ?? 0));
        }, 0);
        return characters < LEAST_CLEARED_CHARACTERS
          ? undefined
          : clearResults({ keep: 0, enough, isSpared });
      },
      (slots, { limits, tokensWith }) => {
        const isFull = tokensWith(slots) > limits.window * share;
        return isFull ? truncate("half", { head: "message" }) : undefined;
      },
    ],
  });
  return { ...policy, maxMessages: (window) => messages ?? historyLimitOf(window) };
}

/** Only text results between the first user message and the latest replies may be pruned. */
function notPrunable(slots: readonly Slot[]): (answer: Answer) => boolean {
  const replies = slots.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
  const end = replies.length < KEPT_REPLIES ? -1 : (replies.at(-KEPT_REPLIES) ?? -1);
  const start = slots.findIndex(({ message }) => message.role === "user");
  const isBetween = (slot: number) => start >= 0 && slot > start && slot < end;
  return ({ slot, result }) => !isBetween(slot) || wordsOfResult(result) === undefined;
}
