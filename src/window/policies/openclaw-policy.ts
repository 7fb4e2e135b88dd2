import type { ToolResultPart } from "../../model/part.ts";
import type { Pass, PassContext } from "../pass.ts";
import { clearResults } from "../passes/clear-results.ts";
import { getHistoryLimits, limitHistory } from "../passes/limit-history.ts";
import { truncateMessages } from "../passes/truncate-messages.ts";
import type { PlacedResult } from "../placed-result.ts";
import type { Policy } from "../policy.ts";
import { findProtectedSeqs } from "../protected-seqs.ts";
import { shrinkPart } from "../replace-part.ts";
import type { Slot } from "../slot.ts";
import { buildStubText, describeTextSize, getStubPlace, hasStub } from "../stub.ts";
import { getWindowIndex } from "../window-index.ts";
import { createEditPolicy } from "./edit-policy.ts";
import { toShare } from "./to-share.ts";

interface OpenclawOptions {
  /** Percentage of the window at which half of the messages leave, 5 to 100; default 80. */
  readonly threshold?: number;
  /** Maximum number of messages; by default depends on the window size. */
  readonly messages?: number;
  /** Turns between two summaries; by default depends on the window size. */
  readonly turns?: number;
}

/** Only results before this many of the latest replies may be pruned. */
const KEPT_REPLIES = 3;
/** Share of the window from which long results are trimmed to head and tail. */
const TRIM_SHARE = 0.3;
const TRIM = { longerThan: 4_000, head: 1_500, tail: 1_500 } as const;
/** Share of the window that clearing the oldest results aims for. */
const CLEAR_SHARE = 0.5;
/** Clearing is skipped if it could remove fewer characters than this. */
const MIN_CLEARED_CHARACTERS = 50_000;

/**
 * OpenClaw's policy: limits the number of messages by the window size, prunes old tool results once the provider's
 * cache has expired, and compacts at 80 %; without a model, compaction means that half of the messages leave. Where
 * summaries are on, they are also due after a number of turns, fewer in a smaller window.
 */
export function openclawPolicy({ threshold = 80, messages, turns }: OpenclawOptions = {}): Policy {
  const share = toShare("threshold", threshold);
  const policy = createEditPolicy("openclaw", {
    head: "message",
    steps: [
      (_, { limits }) => limitHistory(messages ?? getHistoryLimits(limits.window).messages),
      (slots, { isHot, limits, tokensWith }) => {
        const isDue = !isHot && tokensWith(slots) > limits.window * TRIM_SHARE;
        return isDue ? trimResults({ ...TRIM, isSpared: createSparedFilter(slots) }) : undefined;
      },
      (slots, { isHot, limits, tokensWith }) => {
        const enough = tokensWith(slots) - limits.window * CLEAR_SHARE;
        if (isHot || enough <= 0) return undefined;
        const isSpared = createSparedFilter(slots);
        const characters = getWindowIndex(slots).results.reduce((sum, answer) => {
          return sum + (isSpared(answer) ? 0 : (getPlainResultText(answer.result)?.length ?? 0));
        }, 0);
        return characters < MIN_CLEARED_CHARACTERS ? undefined : clearResults({ keep: 0, enough, isSpared });
      },
      (slots, { limits, tokensWith }) => {
        const isFull = tokensWith(slots) > limits.window * share;
        return isFull ? truncateMessages("half", { head: "message" }) : undefined;
      },
    ],
  });
  return {
    ...policy,
    maxMessages: (window) => messages ?? getHistoryLimits(window).messages,
    maxTurns: (window) => turns ?? getHistoryLimits(window).turns,
  };
}

/** Only text results between the first user message and the latest replies may be pruned. */
function createSparedFilter(slots: readonly Slot[]): (answer: PlacedResult) => boolean {
  const replies = slots.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
  const end = replies.length < KEPT_REPLIES ? -1 : (replies.at(-KEPT_REPLIES) ?? -1);
  const start = slots.findIndex(({ message }) => message.role === "user");
  const isBetween = (slot: number) => start >= 0 && slot > start && slot < end;
  return ({ slot, result }) => !isBetween(slot) || getPlainResultText(result) === undefined;
}

/** Selects the results to trim, and the number of characters to keep at head and tail. */
interface TrimOptions {
  readonly longerThan: number;
  readonly head: number;
  readonly tail: number;
  /** Results that stay unchanged. */
  readonly isSpared?: (answer: PlacedResult) => boolean;
}

/** Trims long text-only results to their head and tail. */
export function trimResults(options: TrimOptions): Pass {
  return (slots, context) => {
    const kept = findProtectedSeqs(slots, context.pins);
    return getWindowIndex(slots).results.flatMap((answer) => {
      const slot = slots[answer.slot] as Slot;
      const text = getPlainResultText(answer.result);
      const isLong = text !== undefined && text.length > options.longerThan && !hasStub(text);
      if (!isLong || kept.has(slot.seq) || options.isSpared?.(answer)) return [];
      const output = [{ type: "text" as const, text: trimText(text, slot, options, context) }];
      return shrinkPart(slot, answer.part, { ...answer.result, output }, "long old tool result", context);
    });
  };
}

/** The text of a result; undefined if it contains anything other than text. */
function getPlainResultText({ output }: ToolResultPart): string | undefined {
  const texts = output.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === output.length ? texts.join("\n") : undefined;
}

function trimText(text: string, slot: Slot, { head, tail }: TrimOptions, context: PassContext): string {
  const size = describeTextSize(text.length - head - tail);
  const stub = buildStubText({ what: "The middle of a result", size, ...getStubPlace(slot, context) });
  return `${text.slice(0, head).toWellFormed()}\n${stub}\n${tail > 0 ? text.slice(-tail).toWellFormed() : ""}`;
}
