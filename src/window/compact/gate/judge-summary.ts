import { checkFields, checkList } from "../../../model/argument-checks.ts";
import { clipEnd } from "../../../model/base/clip-end.ts";
import { findFenceAt } from "../../../model/base/fence.ts";
import { textOfMessage } from "../../../model/message.ts";
import { renderInput } from "../../extract/part-text.ts";
import { estimateMessage, estimateText } from "../../tokens/estimate.ts";
import { findHijack, isDirective } from "../contract/directives.ts";
import { parseSummary, unwrapSummary } from "../contract/parse-summary.ts";
import { NOTHING, renderItem } from "../contract/render-summary.ts";
import { isRoleMarker, sanitizeLine } from "../contract/sanitize-summary.ts";
import { headingOf, SECTION_KEYS, type SectionKey } from "../contract/sections.ts";
import type { SummarySections } from "../contract/summary-sections.ts";
import { getResultText } from "../extractive/actions.ts";
import { findKeyIdentifiers, hasIdentifier } from "../extractive/identifier-rows.ts";
import { isQuestion, splitOuterSentences, splitSentences } from "../extractive/split-sentences.ts";
import type { SourceMessage } from "../extractive/summary-candidate.ts";
import {
  collectRequests,
  filterPending,
  isResultText,
  type UserRequest,
} from "../extractive/user-request.ts";
import type { MissingContent, SummaryFailure, SummaryFault, SummaryVerdict } from "./summary-verdict.ts";

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

/** Number of characters of a request that are checked word by word. */
const QUOTE_LENGTH = 240;
const MIN_SHARE = 0.5;
const SENTENCE_LENGTH = 120;

/** The quoted part of a pending request, cut to its maximum length. */
function clipAsk(text: string): string {
  return clipEnd(text.replace(/\s+/g, " ").trim(), QUOTE_LENGTH);
}

/** The requests that an earlier summary quoted, without quotation marks. */
function listEarlierAsks(sections: SummarySections): readonly string[] {
  return sections.asks.map(({ text }) => text.replace(/^["“「](.*)["”」]$/s, "$1"));
}

/** The pending requests that a summary does not quote. */
function findUnquotedAsks(asks: readonly Pick<UserRequest, "text">[], summary: string): readonly string[] {
  const words = normalizeWords(summary);
  return asks.filter(({ text }) => !isQuoted(text, words)).map(({ text }) => clipAsk(text));
}

/** A request counts as quoted if the summary contains at least half of its beginning, sentence by sentence. */
function isQuoted(ask: string, words: string): boolean {
  const pieces = splitSentences(ask.slice(0, QUOTE_LENGTH))
    .flatMap((sentence) => sentence.split(" … "))
    .map((piece) => normalizeWords(piece.slice(0, SENTENCE_LENGTH)))
    .filter((piece) => piece.length > 1);
  const all = pieces.reduce((sum, { length }) => sum + length, 0);
  const found = pieces.reduce((sum, piece) => sum + (hasMostOf(words, piece) ? piece.length : 0), 0);
  return all === 0 || found >= all * MIN_SHARE;
}

/** The last word of a cut piece may be incomplete. */
function hasMostOf(words: string, piece: string): boolean {
  return words.includes(piece) || (piece.length >= 60 && words.includes(piece.slice(0, -12)));
}

const PATH_RUN = /[\w$@~.+\-/]+/g;
const ENDING = /\.([A-Za-z][A-Za-z0-9]{0,6})$/;
const KNOWN_ENDINGS = new Set(
  (
    "ts tsx js jsx mjs cjs mts py pyi go rs java kt cs rb c h cpp hpp cc php swift scala lua sql sh bash zsh ps1 yml yaml toml " +
    "json jsonl md mdx txt rst html css scss vue svelte lock env cfg ini conf log csv xml proto tf ipynb db sqlite gradle ex exs"
  ).split(" "),
);
const ADDRESS = /\b(?:https?|ftp|wss?):\/\/[^\s<>()[\]"'`，。；、]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gi;
const DANGEROUS =
  /(?:\b(?:curl|wget|nc|ncat|scp|ssh|sudo|eval|mkfs|dd|powershell|invoke-webrequest|iex|chmod|chown)\s+[^\s`].{2,200}|\brm\s+-\w*[rf].{1,200}|\|\s*(?:ba|z)?sh\b.{0,40}|\bgit push\b.{0,40}--force.{0,40}|\bdrop (?:table|database)\b.{1,60}|\bbase64 (?:-d|--decode).{0,80})/i;

/** Files that the summary names and the source does not. */
function findInventedFiles(summary: string, source: string): readonly string[] {
  const files = new Set<string>();
  for (const [run] of summary.replace(ADDRESS, " ").replaceAll("\\", "/").matchAll(PATH_RUN))
    for (const path of findPaths(run)) if (!hasPath(path, source)) files.add(path);
  return [...files];
}

/** Web and mail addresses that the summary names and the source does not. */
function findInventedAddresses(summary: string, source: string): readonly string[] {
  const found = [...summary.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?/]+$/, ""));
  return [...new Set(found)].filter((address) => {
    if (source.includes(address)) return false;
    const [, host, path] = /^\w+:\/\/([^/]+)(.*)$/.exec(address) ?? [];
    const steps = (path ?? "").split(/[/?#&=]/).filter((step) => step.length > 2);
    return host === undefined || !source.includes(host) || !steps.every((step) => source.includes(step));
  });
}

/** Potentially harmful commands in the summary that do not occur in the source. */
function findInventedCommands(summary: string, source: string): readonly string[] {
  const code = [...summary.matchAll(/`([^`\n]{3,300})`/g)].map((match) => match[1] as string);
  const lines = summary
    .split("\n")
    .flatMap((line) => /^\s*(?:[-*]\s+)?(?:\$|>|run:?|执行[:：]?)\s+(.*)$/i.exec(line)?.[1] ?? []);
  const plain = normalizeCode(source);
  return [...code, ...lines, ...listCodeLines(summary)].filter((command) => {
    const dangerous = DANGEROUS.exec(command)?.[0];
    return dangerous !== undefined && splitClippedCommand(dangerous).some((piece) => !plain.includes(piece));
  });
}

/** Every piece of a clipped command must occur. */
function splitClippedCommand(command: string): readonly string[] {
  return normalizeCode(command)
    .split("…")
    .map((piece) => piece.replace(/[.\s]+$/, "").trim())
    .filter((piece) => piece.length > 2);
}

function normalizeCode(text: string): string {
  return text.replaceAll("\\", "/").replaceAll("`", "'").replace(/\s+/g, " ");
}

function listCodeLines(summary: string): readonly string[] {
  return [...summary.matchAll(/```[^\n]*\n([\s\S]*?)```/g)].flatMap((match) =>
    (match[1] as string).split("\n"),
  );
}

/** The paths in a run of characters; `a.json/b.json` is two paths. */
function findPaths(run: string): readonly string[] {
  const path = run.replace(/^[.+\-@~]+(?=[^./])|^(?:\.\/)+/, "").replace(/[.+\-/@~]+$/, "");
  const steps = path.split("/").filter(Boolean);
  if (steps.length > 1 && steps.slice(0, -1).some((step) => KNOWN_ENDINGS.has(getEnding(step))))
    return steps.flatMap(findPaths);
  if (steps.length > 1) return ENDING.test(path) || /^\/(?:[\w.-]+\/)+[\w.-]+$/.test(path) ? [path] : [];
  // Names such as Node.js are projects and not files.
  if (/^[A-Z][a-z]+\.js$/.test(path)) return [];
  return path.length > 3 && KNOWN_ENDINGS.has(getEnding(path)) && !path.startsWith(".") ? [path] : [];
}

function getEnding(name: string): string {
  return ENDING.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** A path occurs if the source contains it whole, or contains both a folder and the path inside it. */
function hasPath(path: string, source: string): boolean {
  if (source.includes(path)) return true;
  const steps = path.split("/");
  for (let from = 1; from <= steps.length - 1; from++) {
    const folder = steps.slice(0, from).join("/");
    if (folder !== "" && source.includes(folder) && source.includes(steps.slice(from).join("/"))) return true;
  }
  return false;
}

/** Matches lines that merely report the contents of a tool result. */
const REPORTED =
  /inject|untrusted|malicious|suspicious|not followed|did(?:n't| not) follow|ignored (?:it|the|this|as|that)|was ignored|were ignored|refused to|(?:tool|command) (?:result|output)s?|\b(?:file|page|document|log|readme|output|website|site|result|comment|text|e-?mail|ticket|issue|response)\b.{0,40}\b(?:said|says|say|contain(?:s|ed)?|tried|tries|told|asked|asks|claim(?:s|ed)?|instruct(?:s|ed)?|demand(?:s|ed)?|includ(?:es|ed))\b|注入|恶意|可疑|未执行|未遵从|没有遵从|不予理会|已忽略|工具(?:结果|输出)|(?:网页|文件|日志|页面|文档|邮件|工单)(?:中|里)?.{0,12}(?:要求|声称|写着|包含|试图|含有)/i;
const QUOTES =
  /"([^"\n]{4,200})"|“([^”\n]{4,200})”|「([^」\n]{3,200})」|`([^`\n]{4,200})`|(?<!\w)'([^'\n]{4,200})'(?!\w)/g;
const SHOUTED = /\b(?=[A-Z0-9_-]*[A-Z]{3})[A-Z][A-Z0-9_-]{5,60}\b/g;
const DEMANDED =
  /(?:\b(?:say|print|output|reply with|respond with|answer with|include|write|insert|add|append|begin with|start with|end with|state|claim)\b(?: (?:that|only|exactly|just|the (?:words?|phrase|string|line|text)))*|只?(?:回复|输出|写上|加上|包含|声明|打印|说))[:：]?\s*(.{6,160})/gi;
const MAX_ORDERS = 200;
const MAX_LINE = 2_000;
const MIN_WORDS = 4;
const OVERLAP = 0.75;
/** Minimum share of a line that an order must make up; a line that says much more does not pass the order on. */
const MIN_LINE_SHARE = 0.35;
const CHECKED_RESULT = 400_000;

interface Order {
  readonly words: string;
  readonly terms: readonly string[];
  /** Normalized phrases that only someone who obeys would write. */
  readonly payloads: readonly string[];
}

/** Lines of a summary that obey orders from a tool result, or pass them on as if they were genuine. */
function findObeyedLines(lines: readonly string[], source: SourceText): readonly string[] {
  const own = normalizeWords(source.own);
  const orders = findOrders(source.results, own);
  return lines.filter((line) => {
    if (REPORTED.test(line)) return false;
    const hijack = findHijack(line);
    const words = normalizeWords(line);
    if (hijack !== undefined && !own.includes(normalizeWords(hijack))) return true;
    return orders.some((order) => isObeying(words, order));
  });
}

function isObeying(words: string, { words: order, terms, payloads }: Order): boolean {
  if (payloads.some((payload) => words.includes(payload))) return true;
  if (order.length >= 20 && words.includes(order)) return true;
  if (terms.length < MIN_WORDS) return false;
  const have = new Set(listTerms(words));
  const common = terms.filter((term) => have.has(term)).length;
  return common >= terms.length * OVERLAP && common >= have.size * MIN_LINE_SHARE;
}

function findOrders(results: readonly string[], own: string): readonly Order[] {
  const orders: Order[] = [];
  for (const result of results) {
    const lines = result.slice(0, CHECKED_RESULT).split("\n");
    for (const [index, line] of lines.entries()) {
      if (line.length > MAX_LINE || !isDirective(line)) continue;
      // The content of an order often follows in the next lines.
      const said = [line, ...lines.slice(index + 1, index + 3).filter(({ length }) => length <= MAX_LINE)];
      for (const sentence of said.flatMap(splitSentences)) {
        const order = parseOrder(sentence, own);
        if (order) orders.push(order);
      }
      if (orders.length > MAX_ORDERS) return orders;
    }
  }
  return orders;
}

/** Sentences that user or assistant also wrote are not orders. */
function parseOrder(sentence: string, own: string): Order | undefined {
  const words = normalizeWords(sentence);
  if (words.length < 8 || own.includes(words)) return undefined;
  const quotes = [...sentence.matchAll(QUOTES)].map((match) =>
    match.slice(1).find((group) => group !== undefined),
  );
  const demanded = [...sentence.matchAll(DEMANDED)].map((match) => match[1]);
  const shouted = isDirective(sentence) || demanded.length > 0 ? (sentence.match(SHOUTED) ?? []) : [];
  const payloads = [...(isDirective(sentence) || demanded.length > 0 ? quotes : []), ...demanded, ...shouted]
    .map((payload) => normalizeWords(payload ?? ""))
    .filter((payload) => payload.length >= 4 && !own.includes(payload));
  return { words, terms: [...new Set(listTerms(words))], payloads };
}

/** Words that carry meaning; for Chinese, pairs of characters. */
function listTerms(words: string): readonly string[] {
  const latin = words.match(/[a-z0-9$@~./_-]{4,}/g) ?? [];
  const han = (words.match(/[\u4e00-\u9fff]{2,}/g) ?? []).flatMap((run) =>
    Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  );
  return [...latin, ...han];
}

/**
 * Appends missing content to a summary: sections (from another summary if given), pending requests as quotes, and
 * identifiers. The result must be judged again.
 */
export function repairSummary(summary: string, missing: MissingContent, from?: SummarySections): string {
  const sections = missing.sections.flatMap((key) => {
    const items = from?.[key].filter(({ isQuoted }) => !isQuoted) ?? [];
    return [`## ${headingOf(key)}`, ...(items.length > 0 ? items.map(renderItem) : [NOTHING])];
  });
  const asks = missing.asks.length === 0 ? [] : [`## ${headingOf("asks")}`, ...missing.asks.map(renderAsk)];
  const identifiers =
    missing.identifiers.length === 0
      ? []
      : [`## ${headingOf("identifiers")}`, `- ${missing.identifiers.join(", ")}`];
  return [summary.trimEnd(), ...sections, ...asks, ...identifiers].join("\n");
}

function renderAsk(ask: string): string {
  return sanitizeLine(`- "${ask}"`);
}

/** Normalizes a text for comparison: no emphasis, quotes, punctuation at word ends, line breaks or case. */
function normalizeWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[“”„«»「」『』"'`‘’*_]/g, "")
    .replace(/[，。；：！？、]/g, " ")
    .replace(/[,.;:!?…]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The text of a summary's source, by trustworthiness. */
interface SourceText {
  /** All text, including the earlier summary. */
  readonly all: string;
  /** Text and calls of user and assistant. */
  readonly own: string;
  /** Tool output, by result. */
  readonly results: readonly string[];
}

/** Collects the text of a conversation and of the summary before it. */
function collectSourceText(messages: readonly SourceMessage[], previous: string): SourceText {
  const own: string[] = [previous];
  const results: string[] = [];
  const thoughts: string[] = [];
  for (const { message } of messages) {
    for (const part of message.parts) {
      if (part.type === "tool-call") own.push(renderInput(part.input), part.name);
      else if (part.type === "tool-result") results.push(getResultText(part));
      else if (part.type === "reasoning") thoughts.push(part.text);
      else if (part.type === "text" && message.role === "user" && isResultText(part.text))
        results.push(part.text);
    }
    const text = textOfMessage(message);
    if (message.role === "tool") results.push(text);
    else if (!isResultText(text)) own.push(text);
  }
  const ownText = own.join("\n");
  return { own: ownText, results, all: [ownText, ...results, ...thoughts].join("\n").replaceAll("\\", "/") };
}
