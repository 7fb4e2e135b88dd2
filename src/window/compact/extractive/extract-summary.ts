import { checkFields, checkList, readMaxTokens, type TokenLimit } from "../../../model/argument-checks.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { checkWholeNumber } from "../../../model/errors.ts";
import { type Message, textOfMessage } from "../../../model/message.ts";
import { listCallIds } from "../../../model/tool-calls.ts";
import { chooseLines } from "../../extract/choose-lines.ts";
import { ClueTracker } from "../../extract/clue-tracker.ts";
import { EvictedLines } from "../../extract/evicted-lines.ts";
import { LineList, type QuoteSource } from "../../extract/line-list.ts";
import { estimateMessage, estimateText } from "../../tokens/estimate.ts";
import { isDirective } from "../contract/directives.ts";
import { parseSummary } from "../contract/parse-summary.ts";
import { renderSummary, renderSummaryLines, type SummaryLine } from "../contract/render-summary.ts";
import { withoutControlTokens } from "../contract/sanitize-summary.ts";
import { SECTIONS } from "../contract/sections.ts";
import { buildSections, type SummaryItem, type SummarySections } from "../contract/summary-sections.ts";
import {
  type ActionSections,
  buildActionSections,
  COMMAND_TOKENS,
  toFileCandidate,
} from "./action-sections.ts";
import { type FileState, normalizeCommand } from "./actions.ts";
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
export interface ExtractOptions extends TokenLimit {
  /** Maximum tokens of the text; 300 are enough for all headings and the most important items. */
  readonly maxTokens?: number;
  /**
   * The summary of everything before the messages; its content is carried over, and only the messages are summarized.
   */
  readonly previous?: string | SummarySections | undefined;
  /** The user's wishes for the summary, as in `/compact keep the SQL`. */
  readonly instructions?: string | undefined;
  /** Maximum size relative to the summarized content, regardless of the limit; default 0.5. */
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
 * Builds a summary without a model, within the limit, by filling the sections from the conversation itself.
 * Deterministic: the same messages give the same bytes. Tool output appears only inside the quote fence.
 */
export function extractSummary(
  messages: readonly SourceMessage[],
  options: ExtractOptions,
): ExtractedSummary {
  checkList("messages", messages, { message: "object" });
  checkFields("options", options, { instructions: "text?" });
  const earlier = parseEarlier(options.previous);
  const maxTokens = computeMaxTokens(messages, options, earlier);
  const room = maxTokens - estimateText(renderSummary(buildSections(() => [])));
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
  const kept = trimSummary({ ...noted, identifiers: named.items, files }, maxTokens);
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
    { maxTokens: CARRY_OVER_TOKENS, previous },
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

function computeMaxTokens(
  messages: readonly SourceMessage[],
  options: ExtractOptions,
  earlier: SummarySections | undefined,
): number {
  const said = messages.reduce((sum, { message }) => sum + estimateMessage(message), 0);
  const before = earlier ? estimateText(renderSummary(earlier)) : 0;
  const most = Math.max(MIN_TOKENS, Math.floor((said + before) * (options.share ?? SHARE)));
  return Math.min(checkWholeNumber("maxTokens", readMaxTokens(options) ?? Number.NaN, 1), most);
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

/** Criteria for choosing verbatim lines. */
interface VerbatimCriteria {
  readonly roomTokens: number;
  /** Text that the summary contains anyway. */
  readonly covered: string;
  /** The user's wishes; lines that match them come first. */
  readonly instructions?: string | undefined;
  /** Lines that an earlier summary quoted. */
  readonly earlier: readonly SummaryItem[];
}

/** With less room than this, only lines needed soon are worth keeping. */
const NARROW_TOKENS = 6_000;
const MIN_WORTH = 0.0003;
const MIN_ROOM_TOKENS = 60;
const LABEL_TOKENS = 40;
/** Share of the room for lines that match the user's wishes. */
const WANTED_SHARE = 0.4;
/** Lines are chosen by a rough size and measured afterwards, so choose this factor more than fits. */
const SPARE_FACTOR = 1.3;
const HEADING_TOKENS = 3;
/** With less room than this, settings among call arguments, such as a timeout, are skipped. */
const TIGHT_TOKENS = 500;
const SETTING = /^[A-Za-z_]+: (?:\d+|true|false|null)?\s*$/;
/** Number of lines at which repeated and least needed lines are dropped. */
const MANY_LINES = 20_000;

/** Chooses verbatim lines by the probability per token that the assistant needs them again, to be shown as quotes. */
function chooseVerbatimLines(
  messages: readonly SourceMessage[],
  choice: VerbatimCriteria,
): readonly SummaryItem[] {
  if (choice.roomTokens < MIN_ROOM_TOKENS) return [];
  const clues = new ClueTracker(choice.roomTokens < NARROW_TOKENS ? "near" : "far");
  const shelf = collectEvictedLines(messages, choice.earlier, clues);
  clues.startRanking();
  clues.cover(clues.findClues(toUserMessage(choice.covered)));
  const room = choice.roomTokens * SPARE_FACTOR;
  const asked = chooseWantedLines(shelf.lines, clues, choice.instructions, room * WANTED_SHARE);
  const worths = shelf.rank(clues);
  const { lines } = shelf;
  const chosen = chooseLines(lines, worths, clues, { roomTokens: room, minWorth: MIN_WORTH }).map((index) =>
    toQuotableLine(lines, index),
  );
  return keepFitting([...asked, ...chosen], choice.roomTokens).map(({ text, source: { cite, heading } }) => {
    return { text: withoutControlTokens(text), cite, label: clipLine(heading, LABEL_TOKENS), isQuoted: true };
  });
}

/** A line with its source and position. */
interface QuotableLine {
  readonly text: string;
  readonly source: QuoteSource;
  /** Index among the lines it was chosen from. */
  readonly place: number;
}

function toQuotableLine(lines: LineList, index: number): QuotableLine {
  return {
    text: (lines.texts[index] as string).trimEnd(),
    source: lines.sources[index] as QuoteSource,
    place: index,
  };
}

function collectEvictedLines(
  messages: readonly SourceMessage[],
  earlier: readonly SummaryItem[],
  clues: ClueTracker,
): EvictedLines {
  const shelf = new EvictedLines();
  for (const { text, cite, label } of earlier) {
    const { lines } = clues.read({ seq: 0, ...dropUndefined({ cite }), message: toUserMessage(text) });
    shelf.add(relabelLines(lines, label));
  }
  for (const { seq, cite, message } of messages) {
    shelf.add(clues.read({ seq, ...dropUndefined({ cite }), message }).lines);
    if (shelf.lines.length < MANY_LINES) continue;
    clues.startRanking();
    shelf.rank(clues);
  }
  return shelf;
}

function relabelLines(lines: LineList, heading: string | undefined): LineList {
  for (const [index, source] of lines.sources.entries())
    lines.sources[index] = { ...source, heading: heading ?? source.heading };
  return lines;
}

/** Chooses the lines that match the user's wishes, within their room, and marks their clues as covered. */
function chooseWantedLines(
  lines: LineList,
  clues: ClueTracker,
  instructions: string | undefined,
  room: number,
): readonly QuotableLine[] {
  const terms = instructions ? extractTerms(instructions) : [];
  if (terms.length === 0) return [];
  const names = new RegExp(terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "i");
  const wanted = new LineList();
  const worths: number[] = [];
  const { tokens, ends, clues: all } = lines.columns;
  for (const [index, text] of lines.texts.entries()) {
    if (!names.test(text)) continue;
    const from = index === 0 ? 0 : (ends[index - 1] as number);
    const to = ends[index] as number;
    wanted.add(text, tokens[index] as number, lines.sources[index] as QuoteSource, all, from, to);
    worths.push(clues.sumWorth(all, from, to) / (tokens[index] as number));
  }
  const chosen = chooseLines(wanted, Float32Array.from(worths), clues, {
    roomTokens: room,
    minWorth: MIN_WORTH / 10,
  });
  return chosen.map((index) => toQuotableLine(wanted, index));
}

/**
 * Keeps the first chosen lines that fit by their real size, skips those that give orders, and restores the original
 * order.
 */
function keepFitting(chosen: readonly QuotableLine[], room: number): readonly QuotableLine[] {
  const kept: QuotableLine[] = [];
  const headed = new Set<string>();
  const isTight = room < TIGHT_TOKENS;
  let left = room;
  for (const line of chosen) {
    const { cite, heading } = line.source;
    const frame = headed.has(cite) ? 0 : estimateText(`${cite}${heading}`) + HEADING_TOKENS;
    const cost = estimateText(`${line.text}\n`) + frame;
    if (cost > left || (isTight && SETTING.test(line.text)) || isDirective(line.text)) continue;
    left -= cost;
    headed.add(cite);
    kept.push(line);
  }
  return kept.toSorted((one, other) => one.source.seq - other.source.seq || one.place - other.place);
}

function toUserMessage(text: string): Message {
  return { role: "user", parts: [{ type: "text", text }] };
}

const COMMON_WORDS = new Set(
  "the and for with that this from about keep focus summary summarize please make sure what when where which into only also have been will your you our all any not but its".split(
    " ",
  ),
);
const MAX_TERMS = 24;
let segmenter: Intl.Segmenter | undefined;

/** The search terms in an instruction, in any language that can be segmented. */
function extractTerms(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const terms = new Set<string>(text.match(/[\w$@~.+-]*[_./$@\d][\w$@~.+/-]*\w/g) ?? []);
  for (const { segment, isWordLike } of segmenter.segment(text.slice(0, 2_000))) {
    const least = /[\u2e80-\uffff]/.test(segment) ? 2 : 3;
    if (isWordLike && segment.length >= least && !COMMON_WORDS.has(segment.toLowerCase())) terms.add(segment);
  }
  return [...terms].slice(0, MAX_TERMS);
}
