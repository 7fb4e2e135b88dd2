import { rollDigests } from "../../model/base/digest.ts";

/** Digests of a request, from which the next one's first difference is found; it holds no content. */
export interface RequestPrint {
  /** Digest of the upstream, the credential and the cache key: providers keep a cache for each. */
  readonly key: number;
  /** Digests of the parts of the prefix, in the provider's order. */
  readonly tools: number;
  readonly system: number;
  readonly settings: number;
  /** Number of elements after the system prompt, and the digest of all of them. */
  readonly count: number;
  readonly rolling: number;
  /** Index of the last element with a breakpoint: -1 if only system or tools have one; undefined without any. */
  readonly lastMark?: number | undefined;
  /** Lifetime that the last breakpoint asks for; undefined where the provider chooses. */
  readonly ttlMs?: number | undefined;
  /** True if the API caches only up to breakpoints. */
  readonly needsMarks: boolean;
  /** Absent in a print that was read from the log. */
  readonly detail?: PrintDetail | undefined;
}

/** The digests of single tools, lines, settings and elements. */
export interface PrintDetail {
  readonly tools: readonly { readonly name: string; readonly digest: number }[];
  readonly lines: readonly number[];
  /** Digests of the same lines with numbers, dates and ids blanked. */
  readonly shapes: readonly number[];
  readonly settings: ReadonlyMap<string, number>;
  readonly elements: readonly number[];
  /** Bytes of tools and system, and of each element. */
  readonly leadBytes: number;
  readonly sizes: readonly number[];
}

/** Reads the content of the newest request, to describe a difference; earlier requests have no content any more. */
export interface RequestLook {
  systemLine(index: number): string;
  /** Number of content blocks in a range of elements; `to` is exclusive. */
  countBlocks(from: number, to: number): number;
  /** The beginning of an element's JSON. */
  elementText(index: number): string;
}

/** The first difference between two requests, in the order of the prefix. */
export interface PrintDifference {
  readonly part: "tools" | "system" | "settings" | "message";
  /** Share of the newer request before the difference. */
  readonly position: number;
  /** Index of the first different element, if known. */
  readonly element?: number | undefined;
  readonly text: string;
}

/** Finds the first difference of a request from an earlier one; undefined if it continues that one. */
export function findDifference(
  before: RequestPrint,
  after: RequestPrint,
  look?: RequestLook,
): PrintDifference | undefined {
  if (before.tools !== after.tools) return { part: "tools", position: 0, text: describeTools(before, after) };
  if (before.system !== after.system) return describeSystem(before, after, look);
  const element = findElement(before, after);
  const isSettled = before.settings === after.settings;
  if (!isSettled)
    return { part: "settings", position: getPosition(after, 0), text: describeSettings(before, after) };
  if (element === undefined) return undefined;
  const index = element < 0 ? undefined : element;
  return {
    part: "message",
    position: getPosition(after, index ?? 0),
    element: index,
    text: describeElement(before, after, index),
  };
}

/** Share of a request's bytes before an element. */
function getPosition({ detail }: RequestPrint, element: number): number {
  if (!detail) return 0;
  const before = detail.leadBytes + sum(detail.sizes.slice(0, element));
  return before / Math.max(1, detail.leadBytes + sum(detail.sizes));
}

/** Index of the first element that differs; -1 if an unknown element differs; undefined if no element differs. */
function findElement(before: RequestPrint, after: RequestPrint): number | undefined {
  const own = after.detail?.elements;
  const earlier = before.detail?.elements;
  if (earlier && own) {
    const different = earlier.findIndex((digest, index) => digest !== own[index]);
    return different < 0 ? undefined : different;
  }
  if (!own) return undefined;
  return rollDigests(own, before.count) === before.rolling ? undefined : -1;
}

function describeTools(before: RequestPrint, after: RequestPrint): string {
  const [one, other] = [before.detail?.tools, after.detail?.tools];
  if (!one || !other) return "the tools changed";
  const earlier = new Map(one.map(({ name, digest }) => [name, digest]));
  const own = new Map(other.map(({ name, digest }) => [name, digest]));
  const added = [...own.keys()].filter((name) => !earlier.has(name));
  const removed = [...earlier.keys()].filter((name) => !own.has(name));
  const changed = [...own].filter(([name, digest]) => (earlier.get(name) ?? digest) !== digest);
  const words = [
    added.length > 0 && `${listNames(added)} added`,
    removed.length > 0 && `${listNames(removed)} removed`,
    changed.length > 0 && `${listNames(changed.map(([name]) => name))} changed`,
  ].filter((word) => word !== false);
  return words.length > 0 ? `tools: ${words.join(", ")}` : "the order of the tools changed";
}

const MAX_NAMES = 3;

function listNames(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

const DATE =
  /\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}:\d{2}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b/i;
const MAX_EXCERPT = 80;

function describeSystem(before: RequestPrint, after: RequestPrint, look?: RequestLook): PrintDifference {
  const [one, other] = [before.detail, after.detail];
  if (!one || !other) return { part: "system", position: 0, text: "the system prompt changed" };
  const line = other.lines.findIndex((digest, index) => digest !== one.lines[index]);
  const index = line < 0 ? other.lines.length : line;
  const share = index / Math.max(1, other.lines.length);
  const place = `line ${index + 1} of the system prompt`;
  const excerpt = look?.systemLine(index).trim().slice(0, MAX_EXCERPT) ?? "";
  const quoted = excerpt === "" ? "" : `: “${excerpt}”`;
  const text = `${describeLines(one, other, index, excerpt)} in ${place}${quoted}`;
  return {
    part: "system",
    position: (share * other.leadBytes) / Math.max(1, other.leadBytes + sum(other.sizes)),
    text,
  };
}

/** Names the kind of change at a line. */
function describeLines(one: PrintDetail, other: PrintDetail, index: number, excerpt: string): string {
  if (one.shapes[index] === other.shapes[index] && one.lines.length === other.lines.length)
    return DATE.test(excerpt) ? "a date or time" : "a counter or id";
  const isReordered =
    one.lines.length === other.lines.length &&
    one.lines.toSorted(compare).every((digest, at) => digest === other.lines.toSorted(compare)[at]);
  if (isReordered) return "reordered lines begin";
  if (other.lines.length > one.lines.length) return "new lines";
  return other.lines.length < one.lines.length ? "missing lines" : "other words";
}

function compare(one: number, other: number): number {
  return one - other;
}

function describeSettings(before: RequestPrint, after: RequestPrint): string {
  const [one, other] = [before.detail?.settings, after.detail?.settings];
  if (!one || !other) return "the settings changed";
  const names = [...new Set([...one.keys(), ...other.keys()])];
  return `${names.filter((name) => one.get(name) !== other.get(name)).join(", ")} changed`;
}

function describeElement(before: RequestPrint, after: RequestPrint, index: number | undefined): string {
  if (index === undefined) return "an earlier message changed";
  const place = `message ${index + 1} of ${before.count}`;
  return after.count < before.count ? `${place} and later ones were replaced` : `${place} changed`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
