import { checkFields } from "../../model/argument-checks.ts";
import type { Message } from "../../model/message.ts";
import type { TokenEstimator } from "../apply-edits.ts";
import { listPartTexts } from "../extract/part-text.ts";
import { scanIdentifiers } from "../extract/scan-identifiers.ts";
import { stripLine } from "../extract/verbatim-line.ts";
import { isExtract } from "../policies/longhaul/extract-notes.ts";
import { longhaul } from "../policies/longhaul.ts";
import type { Course, Moment, Policy, PolicyLimits, PolicyRun } from "../policy.ts";
import { type Slot, sumSlotTokens } from "../slot.ts";
import { extractSummary } from "./extractive/extract-summary.ts";

const HEADING = /^## /;
const FENCE = /^<\/?quoted-data\b/;
const SOURCE = /^\[#\d+ .*\]$/;
const ELISION = " … ";
const MIN_PIECE = 8;

/** Options of the `summarizing` policy. */
interface SummarizingOptions {
  /** Maximum share of the room after system prompt and tools that the summary may take. */
  readonly share?: number;
  readonly policy?: Policy;
}

const SHARE = 0.04;
const MIN_TOKENS = 400;
const MAX_TOKENS = 4_000;
const TITLE = "[Summary of earlier steps]";

/**
 * Adds an extractive summary to a policy: everything that leaves the window is also summarized in the fixed sections,
 * after the user's first request, and updated with each edit. Calls no model.
 */
export function summarizingPolicy(options: SummarizingOptions = {}): Policy {
  checkFields("options", options, { share: "number?", policy: "object?" });
  const { share = SHARE, policy = longhaul() } = options;
  return {
    name: `${policy.name}+summary`,
    start(limits, tokensOf, course = {}) {
      const room = (limits.tokens - limits.system) * share;
      const tokens = Math.floor(Math.min(MAX_TOKENS, Math.max(MIN_TOKENS, room)));
      return new SummarizingRun(policy, limits, tokensOf, course, tokens);
    },
  };
}

class SummarizingRun implements PolicyRun {
  readonly #inner: PolicyRun;
  readonly #tokensOf: TokenEstimator;
  readonly #summaryTokens: number;
  readonly #limits: PolicyLimits;
  #summary: Slot | undefined;
  #text: string | undefined;
  /** Messages of the window in their original form. */
  #shown = new Map<number, Slot>();
  reason: string | undefined;

  constructor(
    policy: Policy,
    limits: PolicyLimits,
    tokensOf: TokenEstimator,
    course: Course,
    summaryTokens: number,
  ) {
    const window = course.window?.filter((slot) => !isSummary(slot)) ?? [];
    this.#summary = course.window?.find(isSummary);
    this.#text = this.#summary && getText(this.#summary).slice(TITLE.length + 1);
    this.#tokensOf = tokensOf;
    this.#summaryTokens = summaryTokens;
    this.#limits = limits;
    const getSummaryTokens = () => this.#summary?.tokens ?? 0;
    // Only the summary that there is takes room: a reserve for a larger one would make each rebuild forget more.
    const smaller: PolicyLimits = {
      ...limits,
      get tokens() {
        return limits.tokens - getSummaryTokens();
      },
    };
    for (const slot of window) this.#track(slot);
    this.#inner = policy.start(smaller, tokensOf, { ...course, ...(course.window && { window }) });
  }

  digest(): void {
    this.#inner.digest?.();
  }

  observe(slot: Slot): void {
    this.#track(slot);
    this.#inner.observe(slot);
  }

  fit(moment: Moment): readonly Slot[] {
    const slots = this.#inner.fit(moment);
    this.reason = this.#inner.reason;
    const kept = new Set(slots.flatMap(({ seq, isNote }) => (isNote ? [] : [seq])));
    const left = [...this.#shown.values()].filter(({ seq }) => !kept.has(seq));
    if (left.length > 0) this.#summarize(left, slots);
    const summary = this.#summary;
    if (!summary) return slots;
    const first = slots.findIndex(({ message, isNote }) => message.role === "user" && !isNote);
    return [...slots.slice(0, first + 1), summary, ...slots.slice(first + 1)];
  }

  #track(slot: Slot): void {
    if (slot.isNote) return;
    const { original, ...rest } = slot;
    this.#shown.set(slot.seq, original ? { ...rest, message: original } : slot);
  }

  #summarize(left: readonly Slot[], window: readonly Slot[]): void {
    for (const { seq } of left) this.#shown.delete(seq);
    this.#text = extractSummary(left, { maxTokens: this.#summaryTokens, previous: this.#text }).text;
    const news = dropShownLines(this.#text, window);
    if (news === "") {
      this.#summary = undefined;
      return;
    }
    const text = `${TITLE}\n${news}`;
    const message: Message = { role: "user", parts: [{ type: "text", text }] };
    const tokens = this.#tokensOf(message);
    const { seq, at } = left[0] as Slot;
    const isFitting = this.#limits.system + sumSlotTokens(window) + tokens <= this.#limits.tokens;
    this.#summary = isFitting
      ? { seq: Math.min(seq, this.#summary?.seq ?? seq), at, message, tokens, isNote: true }
      : undefined;
  }
}

function isSummary(slot: Slot): boolean {
  return slot.isNote === true && getText(slot).startsWith(TITLE);
}

function getText({ message }: Slot): string {
  const [part] = message.parts;
  return part?.type === "text" ? part.text : "";
}

/**
 * Removes the lines of a summary that a window shows anyway: words that the window contains, and rows whose identifiers it contains.
 * A summary has to pay for its own tokens on every call, so it must not repeat what the window keeps. Beside an extract,
 * which has weighed every line and identifier by its price, it quotes none of them either. Empty if nothing is left.
 */
export function dropShownLines(summary: string, window: readonly Slot[]): string {
  const shown = new ShownText(window);
  const kept: string[] = [];
  for (const line of summary.split("\n")) {
    if (HEADING.test(line)) dropEmptyTail(kept, HEADING);
    if (SOURCE.test(line)) dropEmptyTail(kept, SOURCE);
    if (/^<\/quoted-data\b/.test(line)) {
      dropEmptyTail(kept, SOURCE);
      if (FENCE.test(kept.at(-1) ?? "")) kept.pop();
      else kept.push(line);
    } else if (HEADING.test(line) || SOURCE.test(line) || FENCE.test(line)) kept.push(line);
    else {
      const rest = shown.dropShown(line);
      if (rest !== undefined) kept.push(rest);
    }
  }
  dropEmptyTail(kept, HEADING);
  return kept.join("\n").trim();
}

/** Removes a heading that no line has followed. */
function dropEmptyTail(lines: string[], heading: RegExp): void {
  while (lines.at(-1) === "") lines.pop();
  if (heading.test(lines.at(-1) ?? "")) lines.pop();
}

/** The text and the identifiers of a window. */
class ShownText {
  readonly #text: string;
  readonly #identifiers = new Set<string>();
  readonly #hasExtract: boolean;

  constructor(window: readonly Slot[]) {
    const texts = window.flatMap(({ message }) => listPartTexts(message, () => undefined));
    this.#text = texts.map(({ text }) => text.replaceAll(/\s+/g, " ")).join("\n");
    this.#hasExtract = window.some(isExtract);
    scanIdentifiers(this.#text, true, (identifier) => this.#identifiers.add(identifier));
  }

  /** The line without its shown identifiers; undefined if the window shows all of it. */
  dropShown(line: string): string | undefined {
    const bare = line.replace(/^(?:- |\| )/, "");
    if (bare.trim() === "" || bare === "None.") return undefined;
    if (this.#hasExtract && line.startsWith("| ")) return undefined;
    if (line.startsWith("- ") && isIdentifierList(bare)) {
      if (this.#hasExtract) return undefined;
      const rest = bare
        .split(", ")
        .filter((name) => !this.#identifiers.has(name) && !this.#text.includes(name));
      return rest.length === 0 ? undefined : `- ${rest.join(", ")}`;
    }
    return this.#isShown(bare) ? undefined : line;
  }

  #isShown(bare: string): boolean {
    const words = bare.replace(/^#\d+ (?:\w+: )?/, "");
    const pieces = words
      .split(ELISION)
      .map((piece) => stripLine(piece.replaceAll(/^"|"$/g, "")).replaceAll(/\s+/g, " "))
      .filter(({ length }) => length >= MIN_PIECE);
    if (pieces.length > 0 && pieces.every((piece) => this.#text.includes(piece))) return true;
    // A row about files or commands says nothing new if the window names all of them.
    if (/^#\d+ \w+: "/.test(bare) || !bare.startsWith("#")) return false;
    const identifiers: string[] = [];
    scanIdentifiers(words, false, (identifier) => identifiers.push(identifier));
    return identifiers.length > 0 && identifiers.every((identifier) => this.#identifiers.has(identifier));
  }
}

/** True for a row of names without words between them. */
function isIdentifierList(bare: string): boolean {
  const names = bare.split(", ");
  return names.length > 1 && names.every((name) => !name.includes(" "));
}
