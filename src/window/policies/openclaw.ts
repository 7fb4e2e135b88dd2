import type { ToolResultPart } from "../../model/part.ts";
import { type Answer, answersOf } from "../answer.ts";
import { applyEdits } from "../apply-edits.ts";
import { historyLimit, historyLimitOf } from "../passes/history-limit.ts";
import type { Policy } from "../policy.ts";
import type { Slot } from "../slot.ts";
import { dropOldest, halveUntilItFits } from "./drop-oldest.ts";
import { type EditContext, editPolicy, requestTokens } from "./edit-policy.ts";
import { cleared, replaceResults } from "./replace-results.ts";

/** Results that come before so many of the latest replies may be pruned, */
const KEPT_REPLIES = 3;
/** the long ones to head and tail from this share of the window on, */
const TRIM_SHARE = 0.3;
const TRIM = { longerThan: 4_000, head: 1_500, tail: 1_500 } as const;
/** the oldest to a notice until no more than this share is taken, */
const CLEAR_SHARE = 0.5;
/** unless there are fewer characters than this to win. */
const LEAST_CLEARED_CHARACTERS = 50_000;
const COMPACTION_SHARE = 0.8;

/**
 * OpenClaw's: a limit of messages by the size of the window; old tool results are pruned when the provider's cache has
 * run out anyway; from 80 % on a compaction, which without a model is that half of the messages leave.
 */
export function openclaw(): Policy {
  return editPolicy("openclaw", (slots, context) => {
    const limited = withinHistoryLimit(slots, context);
    const pruned = context.isHot ? limited : prune(limited, context);
    const isFull = requestTokens(pruned, context) > context.budget.window * COMPACTION_SHARE;
    const compacted = isFull ? dropOldest(pruned, 0.5, "message") : pruned;
    return halveUntilItFits(compacted, "message", context);
  });
}

function withinHistoryLimit(slots: readonly Slot[], { budget, tokensOf }: EditContext): readonly Slot[] {
  const limit = historyLimitOf(budget.window);
  if (slots.length <= limit) return slots;
  const proposals = historyLimit(limit)(slots, { session: "history", tokensOf });
  return applyEdits(
    slots,
    proposals.map(({ edit }) => edit),
    tokensOf,
  );
}

function prune(slots: readonly Slot[], context: EditContext): readonly Slot[] {
  const { budget, tokensOf } = context;
  if (requestTokens(slots, context) <= budget.window * TRIM_SHARE) return slots;
  const trimmed = replaceResults(slots, prunable(slots), trimmedOutput, tokensOf);
  if (requestTokens(trimmed, context) <= budget.window * CLEAR_SHARE) return trimmed;
  const old = prunable(trimmed);
  const characters = old.reduce((sum, { result }) => sum + wordsOf(result).length, 0);
  if (characters < LEAST_CLEARED_CHARACTERS) return trimmed;
  let window = trimmed;
  for (const answer of old) {
    if (requestTokens(window, context) <= budget.window * CLEAR_SHARE) break;
    window = replaceResults(window, [answer], cleared, tokensOf);
  }
  return window;
}

/** Results of words alone between the first message of the user and the replies that are too recent. */
function prunable(slots: readonly Slot[]): readonly Answer[] {
  const replies = slots.flatMap(({ message }, index) => (message.role === "assistant" ? [index] : []));
  const end = replies.at(-KEPT_REPLIES) ?? 0;
  const start = slots.findIndex(({ message }) => message.role === "user");
  if (replies.length < KEPT_REPLIES || start < 0) return [];
  return answersOf(slots).filter(({ slot, result }) => {
    return slot > start && slot < end && result.output.every(({ type }) => type === "text");
  });
}

function trimmedOutput(result: ToolResultPart): ToolResultPart["output"] {
  const text = wordsOf(result);
  if (text.length <= TRIM.longerThan) return result.output;
  const head = text.slice(0, TRIM.head).toWellFormed();
  const tail = text.slice(-TRIM.tail).toWellFormed();
  const note = `[Tool result trimmed: kept the first ${TRIM.head} and the last ${TRIM.tail} of ${text.length} characters.]`;
  return [{ type: "text", text: `${head}\n...\n${tail}\n\n${note}` }];
}

function wordsOf({ output }: ToolResultPart): string {
  return output.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
