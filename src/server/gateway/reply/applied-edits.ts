import { type ClearedContent, countClearedContent, type Slot } from "../../../kernel/faces/window.ts";
import { isObject } from "../../../wire/content-blocks.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import { CONTEXT_MANAGEMENT, type ContextEdit } from "../request/request-fields.ts";

/** An edit applied to a request, as reported in Anthropic's replies. */
export type AppliedEdit =
  | {
      readonly type: "clear_tool_uses_20250919";
      readonly cleared_tool_uses: number;
      readonly cleared_input_tokens: number;
    }
  | {
      readonly type: "clear_thinking_20251015";
      readonly cleared_thinking_turns: number;
      readonly cleared_input_tokens: number;
    }
  | { readonly type: "compact_20260112" };

/**
 * The requested edits that are visible in a window, with estimated tokens; excludes edits that the client made itself.
 */
export function findAppliedEdits(
  edits: readonly ContextEdit[],
  slots: readonly Slot[],
): readonly AppliedEdit[] {
  if (edits.length === 0) return [];
  const cleared = countClearedContent(slots);
  return edits.flatMap(({ type }) => REPORTS[type](cleared) ?? []);
}

const REPORTS: Readonly<Record<ContextEdit["type"], (cleared: ClearedContent) => AppliedEdit | undefined>> = {
  clear_tool_uses_20250919: ({ toolUses, toolTokens }) =>
    toolUses === 0
      ? undefined
      : {
          type: "clear_tool_uses_20250919",
          cleared_tool_uses: toolUses,
          cleared_input_tokens: Math.round(toolTokens),
        },
  clear_thinking_20251015: ({ reasoningTurns, reasoningTokens }) =>
    reasoningTurns === 0
      ? undefined
      : {
          type: "clear_thinking_20251015",
          cleared_thinking_turns: reasoningTurns,
          cleared_input_tokens: Math.round(reasoningTokens),
        },
  compact_20260112: ({ isCompacted }) => (isCompacted ? { type: "compact_20260112" } : undefined),
};

/**
 * Adds the applied edits to the stream event or reply body that reports them; undefined for all other data. The rest
 * stays as the provider wrote it, byte for byte, except in the Responses API, where the report is inside an object.
 */
export function withAppliedEdits(
  api: WireName,
  data: string,
  applied: readonly AppliedEdit[],
): string | undefined {
  if (!REPORT_HINTS[api].test(data)) return undefined;
  const parsed = parseReport(data);
  if (!parsed || !IS_REPORT[api](parsed)) return undefined;
  const report = { applied_edits: applied };
  const { response } = parsed;
  if (isObject(response))
    return JSON.stringify({ ...parsed, response: { ...response, [CONTEXT_MANAGEMENT]: report } });
  if (CONTEXT_MANAGEMENT in parsed) return JSON.stringify({ ...parsed, [CONTEXT_MANAGEMENT]: report });
  const end = data.lastIndexOf("}");
  return `${data.slice(0, end)},${JSON.stringify(CONTEXT_MANAGEMENT)}:${JSON.stringify(report)}${data.slice(end)}`;
}

/** A cheap test, because most events of a stream carry no report. */
const REPORT_HINTS: Readonly<Record<WireName, RegExp>> = {
  anthropic: /"message(?:_delta)?"/,
  "openai-chat": /"finish_reason"\s*:\s*"/,
  "openai-responses": /"object"\s*:\s*"response"/,
  google: /"finishReason"/,
};

const IS_REPORT: Readonly<Record<WireName, (value: WireObject) => boolean>> = {
  anthropic: ({ type }) => type === "message" || type === "message_delta",
  "openai-chat": ({ choices }) => Array.isArray(choices) && choices.some(hasFinished),
  "openai-responses": ({ type, object }) =>
    object === "response" ||
    type === "response.completed" ||
    type === "response.incomplete" ||
    type === "response.failed",
  google: ({ candidates }) => Array.isArray(candidates),
};

function hasFinished(choice: unknown): boolean {
  return isObject(choice) && typeof choice.finish_reason === "string";
}

function parseReport(data: string): WireObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
