import { findFenceAt } from "../../base/fence.ts";
import { checkFields, checkList } from "../../model/argument-checks.ts";
import { estimateMessage, estimateText } from "../../window/tokens/estimate.ts";
import { parseSummary, unwrapSummary } from "../contract/parse-summary.ts";
import { isRoleMarker } from "../contract/sanitize-summary.ts";
import { headingOf, SECTION_KEYS, type SectionKey } from "../contract/sections.ts";
import { findKeyIdentifiers, hasIdentifier } from "../extractive/key-identifiers.ts";
import { isQuestion } from "../extractive/sentence-cues.ts";
import type { SourceMessage } from "../extractive/source-message.ts";
import { splitOuterSentences } from "../extractive/split-sentences.ts";
import { collectRequests, filterPending } from "../extractive/user-request.ts";
import { findInventedAddresses, findInventedCommands, findInventedFiles } from "./inventions.ts";
import { findObeyedLines } from "./obeyed-lines.ts";
import { findUnquotedAsks, listEarlierAsks } from "./pending-asks.ts";
import { collectSourceText } from "./source-text.ts";
import type { SummaryFailure, SummaryFault, SummaryVerdict } from "./summary-verdict.ts";

export type { SummaryVerdict } from "./summary-verdict.ts";

/** Requirements for a summary. */
interface GateOptions {
  /** Maximum tokens of the summary per token of its source; default 0.5. */
  readonly mostShare?: number;
  /** Maximum tokens, regardless of the source. */
  readonly mostTokens?: number;
  /** The required sections; all by default, fewer if a custom prompt asked for others. */
  readonly sections?: readonly SectionKey[];
}

/** A summary and its source. */
export interface JudgedSummary {
  readonly source: readonly SourceMessage[];
  readonly summary: string;
  /** The earlier summary that this one also replaces. */
  readonly previous?: string;
  /** The user's wishes for the summary; files they name do not count as invented. */
  readonly instructions?: string;
  readonly options?: GateOptions;
}

const MAX_SHARE = 0.5;
const MAX_PENDING = 3;
const REPAIRABLE: ReadonlySet<SummaryFault> = new Set([
  "missing-section",
  "missing-identifier",
  "missing-ask",
]);

const JUDGED_FIELDS = {
  source: "array",
  summary: "text",
  previous: "text?",
  instructions: "text?",
  options: "object?",
} as const;

/** Decides whether a summary may replace its source. Never trusts the summary: only checks verifiable facts. */
export function judgeSummary(judged: JudgedSummary): SummaryVerdict {
  checkFields("judged", judged, JUDGED_FIELDS);
  checkList("judged.source", judged.source, { message: "object" });
  const { source, summary, previous = "", instructions = "", options = {} } = judged;
  const parsed = parseSummary(summary);
  const lines = listLinesOutsideFences(summary);
  const text = collectSourceText(source, `${previous}\n${instructions}`);
  const wanted = options.sections ?? SECTION_KEYS;
  const said = source.filter(({ isNote }) => !isNote);
  const { pending, asks } = findPending(said, previous);
  const missing = {
    sections: wanted.filter((key) => !parsed.present.has(key)),
    identifiers: findKeyIdentifiers(said, pending).filter(
      (identifier) => !hasIdentifier(summary, identifier),
    ),
    asks: findUnquotedAsks(asks, summary),
  };
  const spoken = lines.join("\n");
  const found: readonly (readonly [SummaryFault, readonly string[]])[] = [
    ["grew", findSizeFault(source, summary, previous, options)],
    ["empty", isEmpty(parsed, wanted) ? ["It says next to nothing about the conversation."] : []],
    ["missing-section", missing.sections.map(headingOf)],
    ["missing-identifier", missing.identifiers],
    ["missing-ask", missing.asks],
    ["invented-file", findInventedFiles(spoken, text.all)],
    ["invented-address", findInventedAddresses(spoken, text.all)],
    ["invented-command", findInventedCommands(spoken, text.all)],
    ["role-marker", lines.filter(isRoleMarker)],
    ["obeyed", findObeyedLines(lines, text)],
  ];
  const failures = found.flatMap(([fault, whats]) => whats.map((what): SummaryFailure => ({ fault, what })));
  return {
    ok: failures.length === 0,
    failures,
    missing,
    isRepairable:
      failures.every(({ fault }) => REPAIRABLE.has(fault)) && missing.sections.length <= wanted.length / 2,
  };
}

/** The lines that the summary states itself, outside of quotes. */
function listLinesOutsideFences(summary: string): readonly string[] {
  const lines = unwrapSummary(summary).split("\n");
  const outside: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fenced = findFenceAt("quoted-data", lines, at);
    if (fenced) at = fenced.end;
    else outside.push(lines[at] as string);
  }
  return outside;
}

function findPending(source: readonly SourceMessage[], previous: string) {
  const requests = collectRequests(source);
  const pending = filterPending(requests).slice(-MAX_PENDING);
  const reply = requests.findLast(({ outcome }) => outcome)?.outcome?.text;
  const isSettled = reply !== undefined && !isQuestion(splitOuterSentences(reply).at(-1) ?? "");
  const before = isSettled || previous === "" ? [] : listEarlierAsks(parseSummary(previous).sections);
  return { pending, asks: [...before.map((text) => ({ text })), ...pending] };
}

function findSizeFault(
  source: readonly SourceMessage[],
  summary: string,
  previous: string,
  options: GateOptions,
): readonly string[] {
  const said =
    source.reduce((sum, { message }) => sum + estimateMessage(message), 0) + estimateText(previous);
  const most = Math.min(
    said * (options.mostShare ?? MAX_SHARE),
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
