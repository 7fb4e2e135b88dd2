import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isObject } from "../../../wire/content-blocks.ts";
import type { WireFault, WireName } from "../../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";

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
    ...dropUndefined({ instructions }),
    pausesAfter: edit.field("pause_after_compaction").flag() ?? false,
  };
}

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

/** Reports the path of an invalid value, and the expected value. */
class InvalidValueError extends Error {}

/** A value of a request with its path, for error messages. Null counts as missing. */
interface CheckedValue {
  readonly path: string;
  readonly isObject: boolean;
  readonly isList: boolean;
  is(word: string): boolean;
  /** Returns itself; throws `Unreadable` if it is not an object. */
  object(): CheckedValue;
  /** A field of an object. */
  field(name: string): CheckedValue;
  /** The elements of a field; empty if it is missing. */
  list<T>(name: string, read: (element: CheckedValue) => T): readonly T[];
  text(): string;
  optionalText(): string | undefined;
  texts(): readonly string[] | undefined;
  flag(expected?: string): boolean | undefined;
  /** Reads `{ type, value }`, if present. */
  measure(types: readonly string[], least?: number): TypedNumber | undefined;
}

/** A typed number, such as a token count. */
interface TypedNumber {
  readonly type: string;
  readonly value: number;
}

/** A value at a path of the request. */
function createCheckedValue(path: string, given: unknown): CheckedValue {
  const isMissing = given === undefined || given === null;
  const isList = Array.isArray(given);
  const isObject = typeof given === "object" && given !== null && !isList;
  const refuse = (expected: string): never => {
    throw new InvalidValueError(`${path}: expected ${expected}, got ${formatValue(given)}`);
  };
  const value: CheckedValue = {
    path,
    isObject,
    isList,
    is: (word) => given === word,
    object: () => (isObject ? value : refuse("an object")),
    field: (name) =>
      createCheckedValue(`${path}.${name}`, isObject ? (given as Record<string, unknown>)[name] : undefined),
    list(name, read) {
      const own = (given as Record<string, unknown>)[name];
      if (own === undefined || own === null) return [];
      if (!Array.isArray(own))
        throw new InvalidValueError(`${path}.${name}: expected a list, got ${formatValue(own)}`);
      return own.map((element, index) => read(createCheckedValue(`${path}.${name}.${index}`, element)));
    },
    text: () => (typeof given === "string" ? given : refuse("a text")),
    optionalText: () => (isMissing ? undefined : value.text()),
    texts() {
      if (isMissing) return undefined;
      if (!isList || !given.every((one) => typeof one === "string")) return refuse("a list of names");
      return given;
    },
    flag(expected = "true or false") {
      if (isMissing) return undefined;
      return typeof given === "boolean" ? given : refuse(expected);
    },
    measure(types, least = 0) {
      if (isMissing) return undefined;
      const type = value.object().field("type");
      const known = types.find((one) => type.is(one));
      const wanted = `{ type: ${types.map((one) => JSON.stringify(one)).join(" or ")}, value: a whole number from ${least} on }`;
      const { value: number } = given as { readonly value?: unknown };
      if (known === undefined || !Number.isSafeInteger(number) || (number as number) < least)
        return refuse(wanted);
      return { type: known, value: number as number };
    },
  };
  return value;
}

const MAX_SHOWN_CHARACTERS = 80;

function formatValue(value: unknown): string {
  return value === undefined
    ? "nothing"
    : JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
}

/** Decides who carries out Anthropic's `context_management`. */
export function getContextManager({ contextManagement, baseUrl }: UpstreamConfig): "upstream" | "gateway" {
  if (contextManagement) return contextManagement;
  return /^https:\/\/api\.anthropic\.com(?:[:/]|$)/i.test(baseUrl) ? "upstream" : "gateway";
}
