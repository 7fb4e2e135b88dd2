import { answersOf } from "../answer.ts";
import { groupsOf } from "../group.ts";
import type { Policy } from "../policy.ts";
import { halveUntilItFits } from "./drop-oldest.ts";
import { editPolicy, requestTokens } from "./edit-policy.ts";
import { cleared, replaceResults } from "./replace-results.ts";

const TRIGGER_SHARE = 0.5;
const KEPT_RESULTS = 3;

/**
 * Anthropic's clear_tool_uses: from half the window on, the results of all but the last three calls are cleared. Half
 * of the messages leave only where that is not enough.
 */
export function anthropicClear(): Policy {
  return editPolicy("anthropic-clear", (slots, context) => {
    const { budget, tokensOf } = context;
    if (requestTokens(slots, context) <= budget.window * TRIGGER_SHARE) {
      return halveUntilItFits(slots, "pair", context);
    }
    const last = groupsOf(slots).at(-1)?.from ?? 0;
    const old = answersOf(slots)
      .slice(0, -KEPT_RESULTS)
      .filter(({ slot }) => slot < last);
    return halveUntilItFits(replaceResults(slots, old, cleared, tokensOf), "pair", context);
  });
}
