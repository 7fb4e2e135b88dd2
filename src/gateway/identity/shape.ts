import { hash } from "node:crypto";
import { steadyText } from "./steady-text.ts";

/** What all requests of one agent of a client have in common, and those of another agent do not. */
export interface Shape {
  readonly digest: string;
  /** Fingerprints of runs of words in the system prompt's head. */
  readonly lead: readonly number[];
  /** Tools of its own, sorted; those that servers bring along come and go. */
  readonly tools: readonly string[];
}

/** The head says who the agent is; behind it come the folder, its files and other things that change. */
const HEAD = 600;
const SAMPLE = 1_600;
const RAW = 4_000;
const RUN_WORDS = 6;

/** Below this two shapes are those of two agents. */
const SAME = 0.6;
/** The same for system prompts alone. */
const SAME_LEAD = 0.4;

/** The shape of a request; `lead` is its system prompt. */
export function shapeOf(request: { readonly lead: string; readonly toolNames: readonly string[] }): Shape {
  const lead = steadyText(request.lead.slice(0, RAW)).slice(0, SAMPLE);
  const tools = ownTools(request.toolNames);
  return { digest: digestOf(JSON.stringify([lead.slice(0, HEAD), tools])), lead: runsOf(lead), tools };
}

/** How alike two shapes are, from 0 to 1. */
export function shapeLikeness(one: Shape, other: Shape): number {
  if (one.digest === other.digest) return 1;
  return 0.6 * shared(one.lead, other.lead, "all") + 0.4 * shared(one.tools, other.tools, "smaller");
}

/** True for requests of the same agent, also if tools were added or the end of its system prompt has changed. */
export function isSameShape(one: Shape, other: Shape): boolean {
  const isBare = one.tools.length === 0 || other.tools.length === 0;
  if (isBare && one.tools.length !== other.tools.length) return false;
  if (one.lead.length === 0 && other.lead.length === 0)
    return shared(one.tools, other.tools, "smaller") > 0.5;
  return shapeLikeness(one, other) >= SAME && hasSameLead(one, other);
}

/** True if two system prompts begin alike, or both are missing. */
export function hasSameLead(one: Shape, other: Shape): boolean {
  return shared(one.lead, other.lead, "all") >= SAME_LEAD;
}

function ownTools(names: readonly string[]): readonly string[] {
  const all = [...new Set(names)].sort();
  const own = all.filter((name) => !/^mcp[_-]|__/i.test(name));
  return own.length > 0 ? own : all;
}

/** Overlapping runs of words: a change in one place leaves most of them as they are. */
function runsOf(text: string): readonly number[] {
  const words = text.split(" ").filter((word) => word !== "" && word !== "#");
  const prints = words.map(fingerprint);
  const last = Math.max(prints.length - RUN_WORDS, 0);
  const runs = new Set<number>();
  for (let from = 0; from <= last && prints.length > 0; from++)
    runs.add(prints.slice(from, from + RUN_WORDS).reduce((run, print) => Math.imul(run, 31) + print, 7) | 0);
  return [...runs];
}

/** FNV-1a: fast, and nobody gains from two words that look the same. */
function fingerprint(word: string): number {
  let print = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) print = Math.imul(print ^ word.charCodeAt(at), 0x01000193);
  return print;
}

/** The share of what both have: of all that either has, or of what the smaller one has. */
function shared<T>(one: readonly T[], other: readonly T[], of: "all" | "smaller"): number {
  if (one.length === 0 && other.length === 0) return 1;
  const others = new Set(other);
  const both = one.filter((item) => others.has(item)).length;
  const whole = of === "all" ? one.length + other.length - both : Math.min(one.length, other.length);
  return whole === 0 ? 0 : both / whole;
}

function digestOf(text: string): string {
  return hash("sha256", text).slice(0, 32);
}
