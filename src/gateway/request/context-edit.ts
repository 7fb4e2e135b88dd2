/** Clears results of old tool calls; tokens are in the provider's count. */
export interface ClearToolUsesEdit {
  readonly type: "clear_tool_uses_20250919";
  readonly trigger: { readonly tokens: number } | { readonly calls: number };
  /** Number of latest calls that keep their results. */
  readonly keep: number;
  readonly clearAtLeast?: number;
  readonly excludeTools: readonly string[];
  readonly clearInputs: boolean | readonly string[];
}

/** Clears old reasoning. */
export interface ClearThinkingEdit {
  readonly type: "clear_thinking_20251015";
  readonly keep: "all" | number;
}

/** Replaces old messages by a summary. */
export interface CompactEdit {
  readonly type: "compact_20260112";
  readonly triggerTokens: number;
  readonly instructions?: string;
  readonly pausesAfter: boolean;
}

/** An edit of Anthropic's `context_management`, with its defaults filled in. */
export type ContextEdit = ClearToolUsesEdit | ClearThinkingEdit | CompactEdit;

/** The field of a request that asks for edits, and of a reply that reports them. */
export const CONTEXT_MANAGEMENT = "context_management";
