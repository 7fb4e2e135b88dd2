import { checkFields, checkList } from "../../../model/argument-checks.ts";
import { textOfMessage } from "../../../model/message.ts";
import { listCallIds } from "../../../model/tool-call-ids.ts";
import { estimateMessage, estimateText } from "../../tokens/estimate.ts";
import { parseSummary } from "../contract/parse-summary.ts";
import { renderSummary, renderSummaryLines, type SummaryLine } from "../contract/render-summary.ts";
import { SECTIONS } from "../contract/sections.ts";
import { buildSections, type SummaryItem, type SummarySections } from "../contract/summary-sections.ts";
import {
  type ActionSections,
  buildActionSections,
  COMMAND_TOKENS,
  toFileCandidate,
} from "./action-sections.ts";
import { type FileState, normalizeCommand } from "./actions.ts";
import { chooseVerbatimLines } from "./choose-verbatim-lines.ts";
import { fillSections, trimSummary } from "./fill-sections.ts";
import { buildIdentifierRows, estimateKeyTokens } from "./identifier-rows.ts";
import { buildMessageSections, type QuoteLimits } from "./message-sections.ts";
import { isQuestion, splitOuterSentences } from "./split-sentences.ts";
import {
  citeOf,
  clipLine,
  dropRepeats,
  quoteLine,
  type SectionCandidates,
  type SourceMessage,
  type SummaryCandidate,
} from "./summary-candidate.ts";
import { collectRequests } from "./user-request.ts";

const OLD_RANK = 30;
const CARRIED_TOKENS = 160;

/** Options of an extractive summary. */
export interface ExtractOptions {
  /** Maximum tokens of the text; 300 are enough for all headings and the most important items. */
  readonly budgetTokens: number;
  /**
   * The summary of everything before the messages; its content is carried over, and only the messages are summarized.
   */
  readonly previous?: string | SummarySections | undefined;
  /** The user's wishes for the summary, as in `/compact keep the SQL`. */
  readonly instructions?: string | undefined;
  /** Maximum size relative to the summarized content, regardless of the budget; default 0.5. */
  readonly share?: number | undefined;
}

/** A summary made of verbatim content. */
export interface ExtractedSummary {
  readonly text: string;
  readonly sections: SummarySections;
  /** The source entries of the text's lines. */
  readonly sources: readonly LineSource[];
  readonly tokens: number;
}

const MIN_TOKENS = 300;
const SHARE = 0.5;
const FENCE_TOKENS = 50;
/** Share of the room that is reserved for identifiers used in the last turns. */
const RESERVED_SHARE = 0.2;
const INSTRUCTION_TOKENS = 60;
const CARRY_OVER_TOKENS = 4_000;

/**
 * Builds a summary without a model, within the budget, by filling the sections from the conversation itself.
 * Deterministic: the same messages give the same bytes. Tool output appears only inside the quote fence.
 */
export function extractSummary(
  messages: readonly SourceMessage[],
  options: ExtractOptions,
): ExtractedSummary {
  checkList("messages", messages, { message: "object" });
  checkFields("options", options, { instructions: "text?" });
  const earlier = parseEarlier(options.previous);
  const budget = computeBudget(messages, options, earlier);
  const room = budget - estimateText(renderSummary(buildSections(() => [])));
  const said = messages.filter(({ isNote }) => !isNote);
  const candidates = buildCandidates(said, room, earlier, options.instructions);
  const reserved = Math.min(room * RESERVED_SHARE, estimateKeyTokens(said));
  const filled = fillSections(candidates, room - reserved);
  const noted = noteOmittedRequests(filled.sections, candidates);
  const left = filled.leftTokens + reserved;
  const named = buildIdentifierRows(said, earlier, renderSummary(noted), left);
  const quotes = chooseVerbatimLines(messages, {
    roomTokens: left - named.tokens - FENCE_TOKENS,
    covered: renderSummary({ ...noted, identifiers: named.items }),
    instructions: options.instructions,
    earlier: earlier?.files.filter(({ isQuoted }) => isQuoted) ?? [],
  });
  const files = [...noted.files, ...quotes];
  const kept = trimSummary({ ...noted, identifiers: named.items, files }, budget);
  const text = renderSummary(kept);
  const sources = findLineSources(renderSummaryLines(kept), messages);
  return { text, sections: kept, sources, tokens: estimateText(text) };
}

/** The text with which a new conversation can go on: a summary of a whole window, made without a model. */
export function extractCarryOver(window: readonly SourceMessage[]): string {
  checkList("window", window, { message: "object" });
  const isSummary = ({ message }: SourceMessage) =>
    parseSummary(textOfMessage(message)).present.size > SECTIONS.length / 2;
  const summary = window.findLast(isSummary);
  const previous = summary && textOfMessage(summary.message);
  return extractSummary(
    window.filter((message) => !isSummary(message)),
    { budgetTokens: CARRY_OVER_TOKENS, previous },
  ).text;
}

function buildCandidates(
  messages: readonly SourceMessage[],
  room: number,
  earlier: SummarySections | undefined,
  instructions: string | undefined,
): SectionCandidates {
  const requests = collectRequests(messages);
  const told = buildMessageSections(messages, computeQuoteLimits(room, requests.length));
  const done = buildActionSections(messages);
  const wanted = instructions
    ? [{ item: { text: `Asked of this summary: ${quoteLine(instructions, INSTRUCTION_TOKENS)}` }, rank: 0 }]
    : [];
  const fresh: SectionCandidates = {
    ...told,
    ...done,
    current: [...wanted, ...told.current],
    identifiers: [],
  };
  if (!earlier) return fresh;
  const reply = messages.findLast(
    ({ message }) =>
      message.role === "assistant" && listCallIds(message).length === 0 && textOfMessage(message) !== "",
  );
  return carryOverSections(earlier, fresh, { actions: done, reply: reply && textOfMessage(reply.message) });
}

function parseEarlier(previous: ExtractOptions["previous"]): SummarySections | undefined {
  if (previous === undefined || typeof previous !== "string") return previous;
  const { sections, rest } = parseSummary(previous);
  if (rest === "") return sections;
  const before = rest.split("\n").map((text): SummaryItem => ({ text: text.trim() }));
  return { ...sections, previous: [...before.filter(({ text }) => text !== ""), ...sections.previous] };
}

function computeBudget(
  messages: readonly SourceMessage[],
  options: ExtractOptions,
  earlier: SummarySections | undefined,
): number {
  const said = messages.reduce((sum, { message }) => sum + estimateMessage(message), 0);
  const before = earlier ? estimateText(renderSummary(earlier)) : 0;
  const most = Math.max(MIN_TOKENS, Math.floor((said + before) * (options.share ?? SHARE)));
  return Math.min(options.budgetTokens, most);
}

/** Maximum length of quotes: the more requests there are, the shorter each quote. */
function computeQuoteLimits(room: number, requests: number): QuoteLimits {
  const between = (least: number, value: number, most: number) =>
    Math.round(Math.max(least, Math.min(most, value)));
  return {
    request: between(12, (room * 0.18) / (requests + 2), 160),
    ask: between(48, room * 0.19, 600),
    outcome: between(16, room * 0.03, 90),
    sentence: between(20, room * 0.02, 60),
  };
}

/** Adds a line that counts the omitted requests at their position. */
function noteOmittedRequests(sections: SummarySections, { previous }: SectionCandidates): SummarySections {
  const shown = new Set(sections.previous);
  const missing = previous.filter(({ item }) => item.text.startsWith("user:") && !shown.has(item));
  const [first] = missing;
  if (!first || shown.size === 0) return sections;
  const to = missing.at(-1)?.item.cite;
  const text = `${missing.length} more ${missing.length === 1 ? "request" : "requests"}, ${first.item.cite ?? "before"} to ${to ?? "later"}`;
  const [head, ...others] = sections.previous;
  return { ...sections, previous: [...(head ? [head] : []), { text }, ...others] };
}

/** The source entries of a summary line. */
interface LineSource {
  /** Index of the line in the text. */
  readonly line: number;
  readonly from: number;
  readonly to: number;
}

/** The seqs cited by the lines of a summary, including those that an earlier summary cited. */
function findLineSources(
  lines: readonly SummaryLine[],
  messages: readonly SourceMessage[],
): readonly LineSource[] {
  const seqs = new Map(messages.map((told) => [citeOf(told), told.seq]));
  return lines.flatMap(({ item }, line): readonly LineSource[] => {
    if (item?.cite === undefined) return [];
    const known = seqs.get(item.cite);
    if (known !== undefined) return [{ line, from: known, to: known }];
    const [, from, to] = /^#(\d+)(?:-(\d+))?$/.exec(item.cite) ?? [];
    return from === undefined ? [] : [{ line, from: Number(from), to: Number(to ?? from) }];
  });
}

/** Activity since an earlier summary, which determines the items that remain valid. */
interface LaterActivity {
  readonly actions: ActionSections;
  /** The last reply without a call, if there was one. */
  readonly reply: string | undefined;
}

/** Merges the sections of an earlier summary with new ones: superseded items are dropped, the others carried over. */
function carryOverSections(
  earlier: SummarySections,
  fresh: SectionCandidates,
  since: LaterActivity,
): SectionCandidates {
  const kept = (items: readonly SummaryItem[], rank: number) =>
    items.filter(isPlain).map((item) => toCarriedCandidate(item, rank));
  const files = mergeFiles(earlier.files, since.actions.states);
  const settled = since.reply !== undefined && !isQuestion(splitOuterSentences(since.reply).at(-1) ?? "");
  const asks = settled ? [] : kept(earlier.asks, 20);
  const orElse = (later: readonly SummaryCandidate[], items: readonly SummaryItem[]) =>
    later.length > 0 ? later : kept(items, 0);
  return {
    previous: dropRepeats([...carryOverRequests(earlier.previous, fresh.previous.length), ...fresh.previous]),
    current: orElse(fresh.current, earlier.current),
    concepts: mergeConcepts(earlier.concepts, fresh.concepts),
    files,
    problems: [...kept(filterOpenProblems(earlier.problems, since.actions), 14), ...fresh.problems],
    decisions: dropRepeats([...kept(earlier.decisions, 4), ...fresh.decisions]),
    constraints: dropRepeats([...kept(earlier.constraints, 4), ...fresh.constraints]),
    questions: dropRepeats([...(settled ? [] : kept(earlier.questions, OLD_RANK)), ...fresh.questions]),
    todos: orElse(fresh.todos, earlier.todos),
    asks: dropRepeats([...asks, ...fresh.asks]),
    pending: orElse(fresh.pending, earlier.pending),
    identifiers: fresh.identifiers,
  };
}

function isPlain({ isQuoted }: SummaryItem): boolean {
  return !isQuoted;
}

function toCarriedCandidate(item: SummaryItem, rank: number): SummaryCandidate {
  return { item: { ...item, text: clipLine(item.text, CARRIED_TOKENS) }, rank };
}

/** Earlier requests come first; the very first one outranks all but the last. */
function carryOverRequests(items: readonly SummaryItem[], later: number): readonly SummaryCandidate[] {
  const plain = items.filter(isPlain);
  return plain.map((item, index) => {
    const age = plain.length - 1 - index + later;
    return toCarriedCandidate(
      item,
      index === 0 ? 0.6 : item.text.startsWith("assistant:") ? 2 * age + 4 : age + 1,
    );
  });
}

function mergeFiles(
  items: readonly SummaryItem[],
  states: readonly FileState[],
): readonly SummaryCandidate[] {
  const before = new Map<string, SummaryItem>();
  const others: SummaryItem[] = [];
  for (const item of items.filter(isPlain)) {
    const path = /^(\S.*?): (?:written|changed|read|last|change failed)/.exec(item.text)?.[1];
    if (path === undefined) others.push(item);
    else before.set(path, item);
  }
  const merged = states.map((state) => addCounts(state, before.get(state.path)?.text));
  const touched = new Set(states.map(({ path }) => path));
  const untouched = [...before].filter(([path]) => !touched.has(path)).map(([, item]) => item);
  return [
    ...[...others, ...untouched].map((item, index, all) =>
      toCarriedCandidate(item, merged.length + all.length - index + 4),
    ),
    ...merged.map(toFileCandidate),
  ];
}

function addCounts(state: FileState, before: string | undefined): FileState {
  if (before === undefined) return state;
  const count = (word: string) => Number(new RegExp(`\\b${word} ×(\\d+)`).exec(before)?.[1] ?? 0);
  const wasNew = /: written\b/.test(before);
  const changes = count("changed") + (wasNew ? 1 : 0);
  const changedAt = state.changedAt ?? /\blast ([\w-]*#\d+)/.exec(before)?.[1];
  return {
    ...state,
    reads: state.reads + count("read"),
    changes: state.changes + changes,
    isNew: wasNew || (state.isNew && changes === 0 && count("read") === 0),
    changedAt,
  };
}

/** Drops earlier problems that a later run fixed or superseded. */
function filterOpenProblems(items: readonly SummaryItem[], { runs }: ActionSections): readonly SummaryItem[] {
  const ran = new Set(
    runs.map(({ name: what }) => normalizeCommand(clipLine(what, COMMAND_TOKENS).replaceAll("`", "'"))),
  );
  return items.filter((item) => {
    if (!isPlain(item) || / cured: passed at | has no result yet$/.test(item.text)) return false;
    const command = /^`([^`]+)` (?:failed|passed|was refused|has no result)/.exec(item.text)?.[1];
    return command === undefined || !ran.has(normalizeCommand(command));
  });
}

/** Merges lists with the same label. */
function mergeConcepts(
  items: readonly SummaryItem[],
  fresh: readonly SummaryCandidate[],
): readonly SummaryCandidate[] {
  const together = fresh.map(({ item, rank }) => {
    const label = labelOf(item.text);
    const before = items.find(({ text }) => label !== undefined && labelOf(text) === label);
    if (label === undefined || !before) return { item, rank };
    const names = [item.text, before.text].flatMap((text) => text.slice(label.length + 2).split(", "));
    return { item: { text: `${label}: ${[...new Set(names)].slice(0, 14).join(", ")}` }, rank };
  });
  const labels = new Set(fresh.map(({ item }) => labelOf(item.text)));
  const others = items.filter((item) => isPlain(item) && !labels.has(labelOf(item.text)));
  return [...others.map((item) => toCarriedCandidate(item, 2)), ...together];
}

function labelOf(text: string): string | undefined {
  return /^([A-Z][\w ]{2,30}): /.exec(text)?.[1];
}
