import { checkFields, checkList } from "../../model/arguments.ts";
import { estimateMessage, estimateText } from "../../window/tokens/estimate.ts";
import { fencedAt, parseSummary, unwrapped } from "../contract/parse-summary.ts";
import { isRoleMarker } from "../contract/sanitise.ts";
import { headingOf, SECTION_KEYS, type SectionKey } from "../contract/sections.ts";
import { isQuestion } from "../extractive/cues.ts";
import { hasIdentifier, keyIdentifiers } from "../extractive/key-identifiers.ts";
import { pendingOf, requestsOf } from "../extractive/requests.ts";
import { sentencesOf } from "../extractive/sentences.ts";
import type { Told } from "../extractive/told.ts";
import { inventedAddresses, inventedCommands, inventedFiles } from "./invented.ts";
import { obeyedLines } from "./obeyed.ts";
import { earlierAsks, unquoted } from "./pending-asks.ts";
import { sourceText } from "./source-text.ts";
import type { Failure, Fault, SummaryVerdict } from "./verdict.ts";

export type { SummaryVerdict } from "./verdict.ts";

/** Requirements for a summary. */
export interface GateOptions {
  /** Maximum tokens of the summary per token of its source; default 0.5. */
  readonly mostShare?: number;
  /** Maximum tokens, regardless of the source. */
  readonly mostTokens?: number;
  /** The required sections; all by default, fewer if a custom prompt asked for others. */
  readonly sections?: readonly SectionKey[];
}

/** A summary and its source. */
export interface Judged {
  readonly source: readonly Told[];
  readonly summary: string;
  /** The earlier summary that this one also replaces. */
  readonly previous?: string;
  /** The user's wishes for the summary; files they name do not count as invented. */
  readonly instructions?: string;
  readonly options?: GateOptions;
}

const MOST_SHARE = 0.5;
const MAX_PENDING = 3;
const REPAIRABLE: ReadonlySet<Fault> = new Set(["missing-section", "missing-identifier", "missing-ask"]);

const JUDGED_FIELDS = {
  source: "array",
  summary: "text",
  previous: "text?",
  instructions: "text?",
  options: "object?",
} as const;

/** Decides whether a summary may replace its source. Never trusts the summary: only checks verifiable facts. */
export function judgeSummary(judged: Judged): SummaryVerdict {
  checkFields("judged", judged, JUDGED_FIELDS);
  checkList("judged.source", judged.source, { message: "object" });
  const { source, summary, previous = "", instructions = "", options = {} } = judged;
  const parsed = parseSummary(summary);
  const lines = linesOutsideFences(summary);
  const text = sourceText(source, `${previous}\n${instructions}`);
  const wanted = options.sections ?? SECTION_KEYS;
  const said = source.filter(({ isNote }) => !isNote);
  const { pending, asks } = pendingIn(said, previous);
  const missing = {
    sections: wanted.filter((key) => !parsed.present.has(key)),
    identifiers: keyIdentifiers(said, pending).filter((identifier) => !hasIdentifier(summary, identifier)),
    asks: unquoted(asks, summary),
  };
  const spoken = lines.join("\n");
  const found: readonly (readonly [Fault, readonly string[]])[] = [
    ["grew", sizeFault(source, summary, previous, options)],
    ["empty", isEmpty(parsed, wanted) ? ["It says next to nothing about the conversation."] : []],
    ["missing-section", missing.sections.map(headingOf)],
    ["missing-identifier", missing.identifiers],
    ["missing-ask", missing.asks],
    ["invented-file", inventedFiles(spoken, text.all)],
    ["invented-address", inventedAddresses(spoken, text.all)],
    ["invented-command", inventedCommands(spoken, text.all)],
    ["role-marker", lines.filter(isRoleMarker)],
    ["obeyed", obeyedLines(lines, text)],
  ];
  const failures = found.flatMap(([fault, whats]) => whats.map((what): Failure => ({ fault, what })));
  return {
    ok: failures.length === 0,
    failures,
    missing,
    isRepairable:
      failures.every(({ fault }) => REPAIRABLE.has(fault)) && missing.sections.length <= wanted.length / 2,
  };
}

/** The lines that the summary states itself, outside of quotes. */
function linesOutsideFences(summary: string): readonly string[] {
  const lines = unwrapped(summary).split("\n");
  const outside: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fenced = fencedAt(lines, at);
    if (fenced) at = fenced.end;
    else outside.push(lines[at] as string);
  }
  return outside;
}

function pendingIn(source: readonly Told[], previous: string) {
  const requests = requestsOf(source);
  const pending = pendingOf(requests).slice(-MAX_PENDING);
  const reply = requests.findLast(({ outcome }) => outcome)?.outcome?.text;
  const isSettled = reply !== undefined && !isQuestion(sentencesOf(reply).at(-1) ?? "");
  const before = isSettled || previous === "" ? [] : earlierAsks(parseSummary(previous).sections);
  return { pending, asks: [...before.map((text) => ({ text })), ...pending] };
}

function sizeFault(
  source: readonly Told[],
  summary: string,
  previous: string,
  options: GateOptions,
): readonly string[] {
  const said =
    source.reduce((sum, { message }) => sum + estimateMessage(message), 0) + estimateText(previous);
  const most = Math.min(
    said * (options.mostShare ?? MOST_SHARE),
    options.mostTokens ?? Number.POSITIVE_INFINITY,
  );
  const tokens = estimateText(summary);
  return tokens > most
    ? [`${tokens} tokens in place of ${said}; at most ${Math.floor(most)} are allowed.`]
    : [];
}

function isEmpty(
  { sections, rest }: ReturnType<typeof parseSummary>,
  wanted: readonly SectionKey[],
): boolean {
  if (wanted.length === 0) return rest === "" && SECTION_KEYS.every((key) => sections[key].length === 0);
  return sections.previous.length + sections.current.length === 0;
}
