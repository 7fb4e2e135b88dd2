import { estimateText } from "../../../kernel/faces/window.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isUsageCount } from "../../../model/usage.ts";
import { isObject } from "../../../wire/content-blocks.ts";
import { toNumber, toObject } from "../../../wire/fields.ts";
import { toCamelCase } from "../../../wire/google/google-parts.ts";
import type { Wire, WireFault, WireName, WireObject } from "../../../wire/wire.ts";
import type { UpstreamConfig } from "../config/config.ts";
import { findProject } from "../identity/find-project.ts";
import { buildShape } from "../identity/request-kind.ts";
import { findPreviousReply, isChained, isStoredByProvider } from "./chain.ts";
import {
  type BodyFacts,
  type ByteRange,
  type CutBody,
  copyBytes,
  fieldValue,
  parseRange,
  type RequestFields,
} from "./cut-body.ts";
import { parseElement, type RequestMessages } from "./request-messages.ts";

/** Longer fields hold content. */
const MAX_FIELD_BYTES = 16 * 1_024;

/** The short fields of a body, parsed once for all bodies with the same frame. Throws `BodyError` if one is not valid JSON. */
export function readRequestFields(api: Wire, cut: CutBody): RequestFields {
  const memo = cut.frame?.memo;
  const fields = memo?.fields ?? parseRequestFields(api, cut);
  if (memo) memo.fields = fields;
  return fields;
}

/** Parses the short fields of a body. Throws `BodyError` if one is not valid JSON. */
export function parseRequestFields(api: Wire, { bytes, fields }: CutBody): RequestFields {
  const { messagesField, leadFields } = api;
  const all: Record<string, unknown> = {};
  for (const [name, range] of fields) {
    const isContent = name === messagesField || name === "tools" || leadFields.includes(name);
    if (!isContent && range.to - range.from <= MAX_FIELD_BYTES) all[name] = parseRange(bytes, range);
  }
  const limit = OUTPUT_FIELDS.map((name) => all[name]).find((value) => typeof value === "number");
  return {
    all,
    model: typeof all.model === "string" ? all.model : undefined,
    isStreamed: all.stream === true,
    maxTokens: typeof limit === "number" && limit > 0 ? limit : undefined,
    hasOutputFormat: hasOutputFormat(all),
    previousReply: findPreviousReply(api, all),
    isChained: isChained(api, all),
    isStoredByProvider: isStoredByProvider(api, all),
  };
}

/** Fields of Google's configuration that fix the form of a reply. */
const GOOGLE_FORMAT = /^response_?(?:mime_?type|(?:json_?)?schema)$/i;

/** True if the reply must be JSON, under any API's name for it. */
function hasOutputFormat(all: WireObject): boolean {
  const { response_format, text, output_config, output_format, generationConfig, generation_config } = all;
  const formats = [response_format, toObject(text)?.format, toObject(output_config)?.format, output_format];
  const settings = Object.entries(toObject(generationConfig ?? generation_config) ?? {});
  return (
    formats.some((format) => (toObject(format)?.type ?? "text") !== "text") ||
    settings.some(([name, value]) => GOOGLE_FORMAT.test(name) && value !== null && value !== "text/plain")
  );
}

/** The text of a system prompt in any form. */
function getLeadText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(getLeadText).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const { text, content, parts } = value as WireObject;
  return typeof text === "string" ? text : getLeadText(content ?? parts);
}

/** True if two bodies have the same bytes in a field. */
function isSameField(one: CutBody, other: CutBody, name: string): boolean {
  const mine = one.fields.get(name);
  const theirs = other.fields.get(name);
  if (!mine || !theirs) return mine === theirs;
  return areSameBytes(one, mine, other, theirs);
}

function areSameBytes(one: CutBody, mine: ByteRange, other: CutBody, theirs: ByteRange): boolean {
  return one.bytes.compare(other.bytes, theirs.from, theirs.to, mine.from, mine.to) === 0;
}

/** Agents are told apart by the beginning of their system prompt. */
const LEAD_LENGTH = 8_000;

/** Instruction elements up to this size are kept with their frame. */
const MAX_LEAD_BYTES = 64 * 1_024;

/** The facts of a body; reuses those of a body that it extends, or shares its frame with, if the prompt is the same. */
export function readBodyFacts(api: Wire, messages: RequestMessages): BodyFacts {
  const { cut } = messages;
  const memo = cut.frame?.memo;
  const lead = memo && findLeadBytes(messages);
  const facts =
    (lead && memo.facts && lead.equals(memo.facts.lead) ? memo.facts.facts : undefined) ??
    findEarlierFacts(api, messages) ??
    parseFacts(api, messages);
  cut.memo.facts = facts;
  if (lead && memo.facts?.facts !== facts) memo.facts = { lead: copyBytes(lead), facts };
  return facts;
}

/** The bytes of the instruction elements; undefined if they are large. */
function findLeadBytes({ cut, lead }: RequestMessages): Buffer | undefined {
  const [first, last] = [cut.elements[0], cut.elements[lead - 1]];
  if (!first || !last) return NO_LEAD;
  return last.to - first.from <= MAX_LEAD_BYTES ? cut.bytes.subarray(first.from, last.to) : undefined;
}

const NO_LEAD = Buffer.alloc(0);

/** The facts of the body that this one extends, if both have the same prompt and tools. */
function findEarlierFacts(api: Wire, { cut, lead }: RequestMessages): BodyFacts | undefined {
  const { like, same } = cut;
  const earlier = like?.memo.facts;
  if (!earlier || same < lead) return undefined;
  const fields = [...api.leadFields, "tools", "functions"];
  return fields.every((name) => isSameField(cut, like, name)) ? earlier : undefined;
}

function parseFacts(api: Wire, messages: RequestMessages): BodyFacts {
  const whole = readLead(api, messages);
  const lead = whole.slice(0, LEAD_LENGTH);
  const toolNames = readToolNames(messages.cut);
  const project = findProject([whole]);
  const shape = buildShape({ lead, toolNames });
  return { lead, toolNames, shape, ...dropUndefined({ project }) };
}

/** The whole system prompt: the instruction fields, and the instruction elements before the first message. */
export function readLead({ leadFields }: Wire, { cut, lead, leadElements }: RequestMessages): string {
  const fields = leadFields.flatMap((name) =>
    cut.fields.has(name) ? [getLeadText(fieldValue(cut, name))] : [],
  );
  const elements = Array.from({ length: lead }, (_, index) =>
    getLeadText(leadElements?.[index] ?? parseElement(cut, index)),
  );
  return [...fields, ...elements].join("\n");
}

function readToolNames(cut: CutBody): readonly string[] {
  const tools = fieldValue(cut, "tools") ?? fieldValue(cut, "functions");
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: WireObject | null) => {
    const { name, type, function: inner, functionDeclarations } = toCamelCase(tool ?? {});
    if (Array.isArray(functionDeclarations))
      return functionDeclarations.flatMap((one: WireObject | null) =>
        typeof one?.name === "string" ? [one.name] : [],
      );
    const own = name ?? (inner as WireObject | undefined)?.name ?? type;
    return typeof own === "string" ? [own] : [];
  });
}

/** Fields of the three APIs that limit the output of a request. */
const OUTPUT_FIELDS: readonly string[] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/** The fields that each API itself reads. */
const OWN_FIELDS: Readonly<Record<WireName, readonly string[]>> = {
  anthropic: ["max_tokens"],
  "openai-chat": ["max_completion_tokens", "max_tokens"],
  "openai-responses": ["max_output_tokens"],
  google: [],
};

/**
 * The most output tokens that a request asks for; undefined if it has no limit that its API would follow. A smaller number
 * in another field, or one that no reply can have, does not lower it.
 */
export function findOutputLimit(api: WireName, fields: WireObject): number | undefined {
  const limits = OWN_FIELDS[api].map((name) => fields[name]).filter(isUsageCount);
  return limits.length === 0 ? undefined : Math.max(...limits);
}

/** Minimum tokens of a reply without its reasoning, and minimum reasoning budget that providers accept. */
const MIN_REPLY_TOKENS = 1_024;
const MIN_BUDGET_TOKENS = 1_024;

/** Fields that limit reasoning: Anthropic's and OpenRouter's. */
const REASONING_BUDGETS = [
  ["thinking", "budget_tokens"],
  ["reasoning", "max_tokens"],
] as const;

/**
 * The changed fields that limit the output of a request to `most`; empty if it asks for no more, or cannot ask for
 * less. A reasoning budget below the output limit stays below it.
 */
export function lowerOutputFields(fields: WireObject, most: number): ReadonlyMap<string, unknown> {
  const changed = new Map<string, unknown>();
  const limits = OUTPUT_FIELDS.flatMap((name) => toNumber(fields[name]) ?? []);
  const limit = Math.max(...limits);
  if (!(limit > most)) return changed;
  for (const [field, name] of REASONING_BUDGETS) {
    const settings = toObject(fields[field]);
    const budget = toNumber(settings?.[name]);
    // Some clients ask for more reasoning than output, which then spreads over several replies.
    if (budget === undefined || budget >= limit || budget <= most - MIN_REPLY_TOKENS) continue;
    if (most - MIN_REPLY_TOKENS < MIN_BUDGET_TOKENS) return new Map();
    changed.set(field, { ...settings, [name]: most - MIN_REPLY_TOKENS });
  }
  for (const name of OUTPUT_FIELDS) if ((toNumber(fields[name]) ?? 0) > most) changed.set(name, most);
  return changed;
}

/** Texts up to this size are counted whole. */
const WHOLE_BYTES = 1_024 * 1_024;
const SAMPLES = 16;
const SAMPLE_BYTES = 32 * 1_024;

/** Estimates the tokens of UTF-8 text; long text is sampled. */
export function estimateBytes(bytes: Buffer): number {
  if (bytes.length <= WHOLE_BYTES) return estimateText(bytes.toString("utf8"));
  let tokens = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.floor(((bytes.length - SAMPLE_BYTES) * sample) / (SAMPLES - 1));
    tokens += estimateText(bytes.toString("utf8", from, from + SAMPLE_BYTES));
  }
  return Math.round((tokens * bytes.length) / (SAMPLES * SAMPLE_BYTES));
}

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
