import { type ClearOptions, clearResults } from "../passes/clear-results.ts";
import type { Policy } from "../policy.ts";
import { editPolicy } from "./edit-policy.ts";

const TRIGGER_SHARE = 0.5;

/** What Anthropic's `clear_tool_uses` can be told. */
export type AnthropicClearOptions = Omit<ClearOptions, "enough" | "isSpared">;

/**
 * Anthropic's clear_tool_uses: from half the window on, unless told otherwise, the results of all but the last three
 * calls are cleared. Messages leave only where that is not enough.
 */
export function anthropicClear(options: AnthropicClearOptions = {}): Policy {
  return editPolicy("anthropic-clear", {
    head: "exchange",
    steps: [
      (_, { limits }) => clearResults({ trigger: { tokens: limits.window * TRIGGER_SHARE }, ...options }),
    ],
  });
}
