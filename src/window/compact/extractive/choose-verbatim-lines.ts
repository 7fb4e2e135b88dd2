import type { Message } from "../../../model/message.ts";
import { chooseLines } from "../../extract/choose-lines.ts";
import { EvictedLines } from "../../extract/evicted-lines.ts";
import { FactTracker } from "../../extract/fact-tracker.ts";
import { LineList, type QuoteSource } from "../../extract/line-list.ts";
import { estimateText } from "../../tokens/estimate.ts";
import { isDirective } from "../contract/directives.ts";
import { withoutControlTokens } from "../contract/sanitize-summary.ts";
import type { SummaryItem } from "../contract/summary-sections.ts";
import { clipLine, type SourceMessage } from "./summary-candidate.ts";

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
export function chooseVerbatimLines(
  messages: readonly SourceMessage[],
  choice: VerbatimCriteria,
): readonly SummaryItem[] {
  if (choice.roomTokens < MIN_ROOM_TOKENS) return [];
  const facts = new FactTracker(choice.roomTokens < NARROW_TOKENS ? "near" : "far");
  const shelf = collectEvictedLines(messages, choice.earlier, facts);
  facts.startRanking();
  facts.cover(facts.findFacts(toUserMessage(choice.covered)));
  const room = choice.roomTokens * SPARE_FACTOR;
  const asked = chooseWantedLines(shelf.lines, facts, choice.instructions, room * WANTED_SHARE);
  const worths = shelf.rank(facts);
  const { lines } = shelf;
  const chosen = chooseLines(lines, worths, facts, { roomTokens: room, minWorth: MIN_WORTH }).map((index) =>
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
  facts: FactTracker,
): EvictedLines {
  const shelf = new EvictedLines();
  for (const { text, cite, label } of earlier) {
    const { lines } = facts.read({
      seq: 0,
      ...(cite !== undefined && { cite }),
      message: toUserMessage(text),
    });
    shelf.add(relabelLines(lines, label));
  }
  for (const { seq, cite, message } of messages) {
    shelf.add(facts.read({ seq, ...(cite !== undefined && { cite }), message }).lines);
    if (shelf.lines.length < MANY_LINES) continue;
    facts.startRanking();
    shelf.rank(facts);
  }
  return shelf;
}

function relabelLines(lines: LineList, heading: string | undefined): LineList {
  for (const [index, source] of lines.sources.entries())
    lines.sources[index] = { ...source, heading: heading ?? source.heading };
  return lines;
}

/** Chooses the lines that match the user's wishes, within their room, and marks their facts as covered. */
function chooseWantedLines(
  lines: LineList,
  facts: FactTracker,
  instructions: string | undefined,
  room: number,
): readonly QuotableLine[] {
  const terms = instructions ? extractTerms(instructions) : [];
  if (terms.length === 0) return [];
  const names = new RegExp(terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "i");
  const wanted = new LineList();
  const worths: number[] = [];
  const { tokens, ends, facts: all } = lines.columns;
  for (const [index, text] of lines.texts.entries()) {
    if (!names.test(text)) continue;
    const from = index === 0 ? 0 : (ends[index - 1] as number);
    const to = ends[index] as number;
    wanted.add(text, tokens[index] as number, lines.sources[index] as QuoteSource, all, from, to);
    worths.push(facts.sumWorth(all, from, to) / (tokens[index] as number));
  }
  const chosen = chooseLines(wanted, Float32Array.from(worths), facts, {
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
