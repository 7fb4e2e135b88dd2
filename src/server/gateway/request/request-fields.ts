import { estimateText } from "../../../kernel/faces/window.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { isUsageCount } from "../../../model/usage.ts";
import { toNumber, toObject } from "../../../wire/fields.ts";
import { toCamelCase } from "../../../wire/google/google-parts.ts";
import type { Wire, WireName, WireObject } from "../../../wire/wire.ts";
import { buildShape } from "../identity/agent-shape.ts";
import { findProject } from "../identity/find-project.ts";
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
