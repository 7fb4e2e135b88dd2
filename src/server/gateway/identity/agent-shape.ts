import { computeDigest } from "../../../model/base/digest.ts";

/** Features shared by all requests of one agent of a client and by no other agent. */
export interface AgentShape {
  readonly digest: string;
  /** Fingerprints of word runs in the head of the system prompt. */
  readonly lead: readonly number[];
  /** The agent's own tools, sorted; tools of MCP servers do not count unless there are no others. */
  readonly tools: readonly string[];
}

/** The head identifies the agent; the folder, its files and other changing details follow it. */
const HEAD = 600;
const SAMPLE = 1_600;
const RAW = 4_000;
const RUN_WORDS = 6;

/** Minimum likeness of two shapes of the same agent. */
const MIN_SAME = 0.6;
/** Minimum likeness of two system prompts of the same agent. */
const MIN_SAME_LEAD = 0.4;

/** The shape of a request; `lead` is the system prompt. */
export function buildShape(request: {
  readonly lead: string;
  readonly toolNames: readonly string[];
}): AgentShape {
  const lead = toStableText(request.lead.slice(0, RAW)).slice(0, SAMPLE);
  const tools = listOwnTools(request.toolNames);
  return {
    digest: computeDigest(JSON.stringify([lead.slice(0, HEAD), tools]), 32),
    lead: fingerprintRuns(lead),
    tools,
  };
}

/** Likeness of two shapes, from 0 to 1. */
export function compareShapes(one: AgentShape, other: AgentShape): number {
  if (one.digest === other.digest) return 1;
  return (
    0.6 * computeShared(one.lead, other.lead, "all") + 0.4 * computeShared(one.tools, other.tools, "smaller")
  );
}

/** True for requests of the same agent, even if tools were added or the end of the system prompt changed. */
export function isSameShape(one: AgentShape, other: AgentShape): boolean {
  const isBare = one.tools.length === 0 || other.tools.length === 0;
  if (isBare && one.tools.length !== other.tools.length) return false;
  if (one.lead.length === 0 && other.lead.length === 0)
    return computeShared(one.tools, other.tools, "smaller") > 0.5;
  return compareShapes(one, other) >= MIN_SAME && hasSameLead(one, other);
}

/** True if two system prompts begin alike, or both are missing. */
export function hasSameLead(one: AgentShape, other: AgentShape): boolean {
  return computeShared(one.lead, other.lead, "all") >= MIN_SAME_LEAD;
}

function listOwnTools(names: readonly string[]): readonly string[] {
  const all = [...new Set(names)].sort();
  const own = all.filter((name) => !/^mcp[_-]|__/i.test(name));
  return own.length > 0 ? own : all;
}

/** Fingerprints of overlapping word runs: a local change leaves most of them intact. */
function fingerprintRuns(text: string): readonly number[] {
  const words = text.split(" ").filter((word) => word !== "" && word !== "#");
  const prints = words.map(hashWord);
  const last = Math.max(prints.length - RUN_WORDS, 0);
  const runs = new Set<number>();
  for (let from = 0; from <= last && prints.length > 0; from++)
    runs.add(prints.slice(from, from + RUN_WORDS).reduce((run, print) => Math.imul(run, 31) + print, 7) | 0);
  return [...runs];
}

/** FNV-1a: fast, and collisions do no harm. */
function hashWord(word: string): number {
  let print = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) print = Math.imul(print ^ word.charCodeAt(at), 0x01000193);
  return print;
}

/** Share of common items, relative to the union or to the smaller list. */
function computeShared<T>(one: readonly T[], other: readonly T[], basis: "all" | "smaller"): number {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  // The usual case: both are shapes of the same prompt.
  if (same === one.length && same === other.length) return 1;
  const others = new Set(other);
  const both = one.filter((item) => others.has(item)).length;
  const whole = basis === "all" ? one.length + other.length - both : Math.min(one.length, other.length);
  return whole === 0 ? 0 : both / whole;
}

/** Text that differs between requests of the same agent: times, paths, ids, numbers; in order of replacement. */
const UNSTABLE_TEXT: readonly (readonly [RegExp, string])[] = [
  [/x-anthropic-billing-header:[^\n]*/gi, " "],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "#"],
  [/\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b,?/gi, "#"],
  [
    /\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?) \d{1,2}\b/gi,
    "#",
  ],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?/gi, "#"],
  [/(?:[a-z]:)?(?:[\\/][\w.@~-]+){2,}[\\/]?/gi, "/"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "#"],
  [/\d+(?:[.,:/-]\d+)*/g, "#"],
  [/#(?:[\s,]*#)+/g, "#"],
  [/\s+/g, " "],
];

/** A text in lower case, with everything that changes between requests replaced. */
export function toStableText(text: string): string {
  return UNSTABLE_TEXT.reduce((steady, [mark, instead]) => steady.replace(mark, instead), text)
    .trim()
    .toLowerCase();
}
