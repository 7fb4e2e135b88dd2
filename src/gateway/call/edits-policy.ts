import { type ClientEdits, clientEdits, type Policy } from "../../window-entry.ts";
import type { WireName } from "../../wire/wire.ts";
import type {
  ClearThinkingEdit,
  ClearToolUsesEdit,
  CompactEdit,
  ContextEdit,
} from "../request/context-edit.ts";

/** Facts about the request that asks for edits. */
interface EditsPolicyOptions {
  readonly api: WireName;
  /** The model's window in the provider's count. */
  readonly windowTokens?: number;
}

/**
 * A policy that carries out the edits and falls back to the base when they do not meet the budget. Returns the base
 * itself if the edits change nothing, as with `keep: "all"`.
 */
export function buildEditsPolicy(
  edits: readonly ContextEdit[],
  base: Policy,
  options: EditsPolicyOptions,
): Policy {
  const wanted = toClientEdits(edits, options.api);
  if (Object.keys(wanted).length === 0) return base;
  const { windowTokens } = options;
  return clientEdits(wanted, { base, ...(windowTokens !== undefined && { windowTokens }) });
}

function toClientEdits(edits: readonly ContextEdit[], api: WireName): ClientEdits {
  const find = <T extends ContextEdit["type"]>(type: T) =>
    edits.find((edit): edit is Extract<ContextEdit, { type: T }> => edit.type === type);
  const results: ClearToolUsesEdit | undefined = find("clear_tool_uses_20250919");
  const thinking: ClearThinkingEdit | undefined = find("clear_thinking_20251015");
  const summary: CompactEdit | undefined = find("compact_20260112");
  // The Responses API refuses a call without its reasoning.
  const isClearing = thinking !== undefined && thinking.keep !== "all" && api !== "openai-responses";
  return {
    ...(isClearing && { reasoning: { keepTurns: thinking.keep as number } }),
    ...(results && { results: toResultOptions(results) }),
    ...(summary && { compact: { tokens: summary.triggerTokens, instructions: summary.instructions } }),
  };
}

function toResultOptions({ type: _, ...options }: ClearToolUsesEdit): NonNullable<ClientEdits["results"]> {
  return options;
}
