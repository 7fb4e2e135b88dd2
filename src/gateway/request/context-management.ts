import { isObject } from "../../wire/content-blocks.ts";
import type { WireFault, WireName } from "../../wire/wire.ts";
import { type CheckedValue, createCheckedValue, InvalidValueError } from "./checked-value.ts";
import type { ClearThinkingEdit, ClearToolUsesEdit, CompactEdit, ContextEdit } from "./context-edit.ts";

const DEFAULT_CLEAR_TOKENS = 100_000;
const DEFAULT_KEPT_CALLS = 3;
const DEFAULT_KEPT_TURNS = 1;
const DEFAULT_COMPACT_TOKENS = 150_000;
const MIN_COMPACT_TOKENS = 50_000;

/** The result of reading a request's `context_management`. */
type ContextManagement =
  /** Nothing to do for the gateway: the field is absent, not Anthropic's, or handled by the upstream. */
  | { readonly type: "none" }
  | { readonly type: "edits"; readonly edits: readonly ContextEdit[] }
  | { readonly type: "fault"; readonly fault: WireFault };

/**
 * Reads the `context_management` of a request. Unknown fields are ignored. Invalid values, and edits that the gateway
 * must carry out but does not support, cause a fault that names them.
 */
export function readContextManagement(
  value: unknown,
  { api, by }: { readonly api: WireName; readonly by: "upstream" | "gateway" },
): ContextManagement {
  if (by === "upstream" || value === undefined || value === null) return { type: "none" };
  // OpenAI's field of the same name is a list, or has no edits.
  if (api !== "anthropic" && !(isObject(value) && "edits" in value)) return { type: "none" };
  try {
    return { type: "edits", edits: parseEdits(createCheckedValue("context_management", value)) };
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    return { type: "fault", fault: { status: 400, kind: "invalid_request", message: error.message } };
  }
}

/** A key for the edits; a window made for the same key is reused. */
export function buildEditsKey(edits: readonly ContextEdit[]): string {
  return edits.length === 0 ? "" : JSON.stringify(edits);
}

function parseEdits(value: CheckedValue): readonly ContextEdit[] {
  const edits = value.object().list("edits", parseEdit);
  const twice = edits.find(({ type }, index) => edits.findIndex((edit) => edit.type === type) !== index);
  if (twice)
    throw new InvalidValueError(`context_management.edits: ${twice.type} is there twice; send it once`);
  return edits;
}

const EDIT_PARSERS: Readonly<Record<ContextEdit["type"], (value: CheckedValue) => ContextEdit>> = {
  clear_tool_uses_20250919: parseClearToolUses,
  clear_thinking_20251015: parseClearThinking,
  compact_20260112: parseCompact,
};

function parseEdit(value: CheckedValue): ContextEdit {
  const edit = value.object();
  const type = edit.field("type").text();
  if (!Object.hasOwn(EDIT_PARSERS, type)) {
    const known = Object.keys(EDIT_PARSERS).join(", ");
    throw new InvalidValueError(
      `${edit.path}.type: ${JSON.stringify(type)} is no edit that this gateway can carry out for this upstream; it knows ${known}`,
    );
  }
  return EDIT_PARSERS[type as ContextEdit["type"]](edit);
}

function parseClearToolUses(edit: CheckedValue): ClearToolUsesEdit {
  const trigger = edit.field("trigger").measure(["input_tokens", "tool_uses"]);
  const keep = edit.field("keep").measure(["tool_uses"]);
  const least = edit.field("clear_at_least").measure(["input_tokens"]);
  const inputs = edit.field("clear_tool_inputs");
  return {
    type: "clear_tool_uses_20250919",
    trigger:
      trigger?.type === "tool_uses"
        ? { calls: trigger.value }
        : { tokens: trigger?.value ?? DEFAULT_CLEAR_TOKENS },
    keep: keep?.value ?? DEFAULT_KEPT_CALLS,
    ...(least && { clearAtLeast: least.value }),
    excludeTools: edit.field("exclude_tools").texts() ?? [],
    clearInputs: inputs.isList
      ? (inputs.texts() ?? [])
      : (inputs.flag("true, false or a list of names") ?? false),
  };
}

function parseClearThinking(edit: CheckedValue): ClearThinkingEdit {
  const keep = edit.field("keep");
  const type = "clear_thinking_20251015";
  if (keep.is("all") || (keep.isObject && keep.field("type").is("all"))) return { type, keep: "all" };
  return { type, keep: keep.measure(["thinking_turns"], 1)?.value ?? DEFAULT_KEPT_TURNS };
}

function parseCompact(edit: CheckedValue): CompactEdit {
  const trigger = edit.field("trigger").measure(["input_tokens"], MIN_COMPACT_TOKENS);
  const instructions = edit.field("instructions").optionalText();
  return {
    type: "compact_20260112",
    triggerTokens: trigger?.value ?? DEFAULT_COMPACT_TOKENS,
    ...(instructions !== undefined && { instructions }),
    pausesAfter: edit.field("pause_after_compaction").flag() ?? false,
  };
}
