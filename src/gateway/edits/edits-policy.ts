import { type ClientEdits, clientEdits, type Policy } from "../../index.ts";
import type { ApiName } from "../api/api.ts";
import type { ClearThinking, ClearToolUses, Compact, ContextEdit } from "./context-edit.ts";

/** What is known besides of a request that asks for edits. */
export interface EditsPolicyOptions {
  readonly api: ApiName;
  /** The model's window as the provider counts it. */
  readonly windowTokens?: number;
}

/**
 * A policy that carries the edits out, with the base behind it for when they are not enough for the budget; the base
 * itself where the edits change nothing, as `keep: "all"` does.
 */
export function policyOfContextManagement(
  edits: readonly ContextEdit[],
  base: Policy,
  options: EditsPolicyOptions,
): Policy {
  const wanted = wantedOf(edits, options.api);
  if (Object.keys(wanted).length === 0) return base;
  const { windowTokens } = options;
  return clientEdits(wanted, { base, ...(windowTokens !== undefined && { windowTokens }) });
}

function wantedOf(edits: readonly ContextEdit[], api: ApiName): ClientEdits {
  const find = <T extends ContextEdit["type"]>(type: T) =>
    edits.find((edit): edit is Extract<ContextEdit, { type: T }> => edit.type === type);
  const results: ClearToolUses | undefined = find("clear_tool_uses_20250919");
  const thinking: ClearThinking | undefined = find("clear_thinking_20251015");
  const summary: Compact | undefined = find("compact_20260112");
  // The Responses API refuses a call without the reasoning that it came with.
  const isClearing = thinking !== undefined && thinking.keep !== "all" && api !== "openai-responses";
  return {
    ...(isClearing && { reasoning: { keepTurns: thinking.keep as number } }),
    ...(results && { results: resultsOf(results) }),
    ...(summary && { compact: { tokens: summary.triggerTokens, instructions: summary.instructions } }),
  };
}

function resultsOf({ type: _, ...options }: ClearToolUses): NonNullable<ClientEdits["results"]> {
  return options;
}
