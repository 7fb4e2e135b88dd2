import { type ClearOptions, clearResults } from "../passes/clear-results.ts";
import type { Policy } from "../policy.ts";
import { createEditPolicy } from "./edit-policy.ts";

const TRIGGER_SHARE = 0.5;

/** Options of Anthropic's `clear_tool_uses`. */
export type AnthropicClearOptions = Omit<ClearOptions, "enough" | "isSpared">;

/**
 * Anthropic's clear_tool_uses: by default, clears the results of all but the last three calls once half of the window
 * is used. Messages leave only if that is not enough.
 */
export function anthropicClearPolicy(options: AnthropicClearOptions = {}): Policy {
  return createEditPolicy("anthropic-clear", {
    head: "exchange",
    steps: [
      (_, { limits }) => clearResults({ trigger: { tokens: limits.window * TRIGGER_SHARE }, ...options }),
    ],
  });
}
