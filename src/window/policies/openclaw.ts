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

/** What OpenClaw can be told otherwise. */
export interface OpenclawOptions {
  /** From this percentage of the window on half of the messages leave, 5 to 100; 80 unless given. */
  readonly threshold?: number;
  /** Most messages; by the size of the window unless given. */
  readonly messages?: number;
}

/** Results that come before so many of the latest replies may be pruned, */
const KEPT_REPLIES = 3;
/** the long ones to head and tail from this share of the window on, */
const TRIM_SHARE = 0.3;
const TRIM = { longerThan: 4_000, head: 1_500, tail: 1_500 } as const;
/** the oldest to a notice until no more than this share is taken, */
const CLEAR_SHARE = 0.5;
/** unless there are fewer characters than this to win. */
const LEAST_CLEARED_CHARACTERS = 50_000;

/**
 * OpenClaw's: a limit of messages by the size of the window; old tool results are pruned when the provider's cache has
 * run out anyway; from 80 % on a compaction, which without a model is that half of the messages leave.
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

/** Only results of words between the first message of the user and the latest replies may be pruned. */
function notPrunable(slots: readonly Slot[]): (answer: Answer) => boolean {
  const replies = slots.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
  const end = replies.length < KEPT_REPLIES ? -1 : (replies.at(-KEPT_REPLIES) ?? -1);
  const start = slots.findIndex(({ message }) => message.role === "user");
  const isBetween = (slot: number) => start >= 0 && slot > start && slot < end;
  return ({ slot, result }) => !isBetween(slot) || wordsOfResult(result) === undefined;
}
