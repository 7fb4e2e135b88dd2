import type { OverlayBody } from "../../kernel/faces/log.ts";
import {
  type CacheState,
  type Comparison,
  extractCarryOver,
  type TodoItem,
  type WindowBreakdown,
} from "../../kernel/faces/window.ts";
import {
  type Entry,
  type FittedWindow,
  parseEntryId,
  type Receipt,
  type SessionId,
} from "../../kernel/index.ts";
import { defineCommand } from "../cli-command.ts";
import { renderWindowDiff } from "../compacting/render-window-diff.ts";
import { toContextJson } from "../context/context-json.ts";
import { buildContextReport, type ContextReport } from "../context/context-report.ts";
import { citeEntry, formatEntryExcerpt } from "../context/format-entry-excerpt.ts";
import { type LabeledRow, renderRows } from "../context/labeled-row.ts";
import { openDescribedWindow, WINDOW_OPTIONS } from "../context/window-options.ts";
import { EXIT } from "../exit-code.ts";
import { findSession } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { renderSavings, renderSpending, renderUnpricedNote } from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatCount, formatQuantity, formatShare } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { formatAgo, formatTime } from "../terminal/format-time.ts";
import { type Look, type Paint, plainPaint } from "../terminal/paint.ts";
import { printJson, printLines } from "../terminal/print-lines.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { formatTokenChange } from "../terminal/tokens.ts";
import { fitText, padText } from "../terminal/width.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { describeEdit, explainEdit } from "../transcript/describe-edit.ts";
import { UsageError } from "../usage-error.ts";

/** Options for printing a window report. */
interface ContextPrintOptions extends OverlayPrintOptions {
  readonly isQuiet: boolean;
}

const SHOWN_OVERLAYS = 5;
const SHOWN_DAYS = 3;
const CACHE_TEXTS: Readonly<Record<CacheState, string>> = {
  hot: "hot: the next call reads the last request at the cached price",
  cold: "cold: the next call writes the whole prompt again",
  unknown: "unknown: no usage reported",
};

const TODO_BOXES: Readonly<Record<TodoItem["state"], string>> = { done: "[x]", doing: "[~]", open: "[ ]" };

/** Options for printing overlays. */
interface OverlayPrintOptions {
  readonly columns: number;
  readonly paint: Paint;
  readonly isFull: boolean;
  readonly now: number;
}

type PartName = keyof WindowBreakdown;

interface PartStyle {
  readonly letter: string;
  readonly block: string;
  readonly look: Look;
}

/** Window parts in the order of a request. */
const PART_STYLES: Readonly<Record<PartName, PartStyle>> = {
  system: { letter: "S", block: "█", look: "magenta" },
  tools: { letter: "T", block: "█", look: "blue" },
  memories: { letter: "E", block: "█", look: "bold" },
  pins: { letter: "P", block: "█", look: "yellow" },
  summaries: { letter: "M", block: "█", look: "cyan" },
  recalled: { letter: "C", block: "█", look: "red" },
  history: { letter: "H", block: "█", look: "green" },
  reserved: { letter: "R", block: "▒", look: "dim" },
  free: { letter: ".", block: "·", look: "dim" },
};

const PART_NAMES = Object.keys(PART_STYLES) as readonly PartName[];
const MAX_BAR_COLUMNS = 72;

const MAX_NAMED = 6;

/** Shows the window of the next model call, its cost and its edits. */
export const contextCommand = defineCommand({
  name: "context",
  summary: "show the context window: its parts, its cost, its edits and their reasons",
  usage: ["context <session> [--model NAME] [--dry-run] [--diff] [options]"],
  about:
    "Shows the current window, built from the log and its overlays. A receipt gives each figure without the edit → with it.",
  options: {
    ...WINDOW_OPTIONS,
    "dry-run": { type: "boolean", help: "also show the edits for the next call; change nothing" },
    diff: {
      type: "boolean",
      help: "show the difference between log and window; with --dry-run, between this window and the next call's",
    },
    full: { type: "boolean", help: "list all overlays in force, all days and all names" },
  },
  maxOperands: 1,
  examples: [
    "longhaul context ticket-4711",
    "longhaul context ticket-4711 --model claude-sonnet-4-5 --system 3k --tools 9k --dry-run",
    "longhaul context ticket-4711 --diff",
    "longhaul context ticket-4711 --json",
  ],
  async run(context, { operands: [wanted], options }) {
    if (wanted === undefined) throw new UsageError('name a session; "longhaul sessions" lists them');
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    await using kernel = await openExistingStore(context, options, { onWarning });
    await using session = await kernel.session(
      await findSession(kernel, wanted, getSessionScope(context, options)),
    );
    const described = await openDescribedWindow(session, options);
    const report = await buildContextReport(session, described, {
      isDryRun: options["dry-run"] === true,
      hasDiff: options.diff === true,
      warnings,
      kernel,
    });
    if (options.json) {
      await printJson(context, toContextJson(report));
      return EXIT.fine;
    }
    if (!options.quiet) {
      for (const warning of report.warnings) context.stderr.write(`longhaul: ${escapeLine(warning)}\n`);
    }
    const lines = renderContext(report, {
      columns: context.columns.stdout,
      paint: choosePaint(context, options),
      isFull: options.full === true,
      isQuiet: options.quiet === true,
      now: Date.now(),
    });
    await printLines(context, lines);
    return EXIT.fine;
  },
});

/** Formats the report about a window for people. */
function renderContext(report: ContextReport, look: ContextPrintOptions): readonly string[] {
  return [
    ...renderWindow(report, look),
    "",
    ...renderUsage(report, look),
    ...renderMemories(report, look),
    ...renderPins(report, look),
    ...renderTodos(report, look),
    ...renderHeld(report, look),
    "",
    ...renderOverlays(report, look),
    ...renderNext(report, look),
    ...renderDiff(report, look),
  ];
}

function renderDiff({ diff, next }: ContextReport, look: ContextPrintOptions): readonly string[] {
  if (!diff) return [];
  const { columns, paint, isFull } = look;
  const title = next ? "Changes in the next call" : "Difference between log and window";
  const head = ["", ...wrapText(title, columns).map((line) => paint("bold", line))];
  if (diff.changes.every(({ type }) => type === "stays")) return [...head, "None."];
  const cut = diff.isCut ? wrapText("Older messages of the line are not compared.", columns) : [];
  return [...head, ...cut, ...renderWindowDiff(diff.changes, { columns, paint, isFull, isBrief: true })];
}

function renderWindow(
  { described, now, session }: ContextReport,
  look: ContextPrintOptions,
): readonly string[] {
  const { columns, paint } = look;
  const model = described.model ?? "an unnamed model";
  return [
    paint("bold", fitText(escapeLine(session), columns)),
    ...wrapText(`${formatFullness(now)} for ${escapeLine(model)}`, columns),
    ...renderWindowBar(now.parts, columns, paint),
    ...renderOverflow(now, look),
    ...renderAdvice(now, look),
    ...renderHint(now, look),
  ];
}

function formatFullness({ tokens, limits, messages }: FittedWindow): string {
  const share = formatShare(tokens, limits.window);
  return `${formatCount(tokens)} of ${formatCount(limits.window)} tokens (${share}), ${formatQuantity(messages.length, "message")}`;
}

function renderOverflow(
  { tokens, limits, held }: FittedWindow,
  { columns, paint }: ContextPrintOptions,
): readonly string[] {
  if (tokens <= limits.most) return [];
  const order = held ? ", and what was brought back leaves last" : "";
  const over = `${formatCount(tokens - limits.most)} tokens over the limit; the next call edits the window first${order}`;
  return wrapText(over, columns).map((line) => paint("yellow", line));
}

function renderAdvice(
  { advice, limits, slots }: FittedWindow,
  { columns, paint, isFull, isQuiet }: ContextPrintOptions,
): readonly string[] {
  if (!advice) return [];
  const share = formatShare(advice.settledTokens, limits.window);
  const hint = isFull || isQuiet ? "" : "; --full shows what would be carried over";
  return [
    ...wrapText(`${share} of the window can never leave it: begin a new conversation${hint}`, columns).map(
      (line) => paint("yellow", line),
    ),
    ...(isFull
      ? [
          "",
          ...extractCarryOver(slots)
            .split("\n")
            .flatMap((line) => wrapText(escapeLine(line), columns)),
        ]
      : []),
  ];
}

function renderHint(
  { parts }: FittedWindow,
  { columns, paint, isQuiet }: ContextPrintOptions,
): readonly string[] {
  if (isQuiet || parts.system + parts.tools > 0) return [];
  const hint = "the log contains no system prompt and no tools; set their sizes with --system and --tools";
  return wrapText(hint, columns).map((line) => paint("dim", line));
}

function renderUsage({ books, now }: ContextReport, look: ContextPrintOptions): readonly string[] {
  const { columns, paint, isFull } = look;
  const { last, total, days } = books;
  const state = wrapText(`cache ${CACHE_TEXTS[now.cache]}`, columns);
  if (!last) return ["No usage reported.", ...state];
  const rows = [
    { name: `last request, ${formatAgo(last.at, look.now)}`, totals: last.totals },
    ...(isFull ? days : days.slice(-SHOWN_DAYS)).toReversed(),
    { name: "session", totals: total },
  ];
  const texts = [...renderUnpricedNote(total), ...renderSavings(books.savings)];
  const notes = texts.flatMap((line) => wrapText(line, columns));
  return [...renderSpending("", rows, { width: columns, paint }), ...notes, ...state];
}

function renderMemories({ memories }: ContextReport, look: ContextPrintOptions): readonly string[] {
  if (!memories) return [];
  const { columns, paint, now } = look;
  const { agent, tokens, facts } = memories;
  const title = `Memories of ${escapeLine(agent)}, with every call (${formatQuantity(tokens, "token")})`;
  const rows = facts.map(({ by, at, text }) => [`${by}, ${formatAgo(at, now)}`, text] as const);
  return [
    "",
    ...wrapText(title, columns).map((line) => paint("bold", line)),
    ...renderRows(rows, columns, paint),
  ];
}

function renderPins(
  { pins, session }: ContextReport,
  { columns, paint }: ContextPrintOptions,
): readonly string[] {
  if (pins.length === 0) return [];
  const rows = pins.map((entry) => [citeEntry(entry, session), formatEntryExcerpt(entry)] as const);
  return ["", paint("bold", "Pinned"), ...renderRows(rows, columns, paint)];
}

function renderTodos(
  { todos, session }: ContextReport,
  { columns, paint, isFull }: ContextPrintOptions,
): readonly string[] {
  if (todos.length === 0) return [];
  const shown = isFull ? todos : todos.filter(({ state }) => state !== "done");
  const done = todos.filter(({ state }) => state === "done").length;
  const title = `To do on this line, ${formatCount(done)} of ${formatCount(todos.length)} done`;
  const rows = shown.map(({ text, state, entry }) => {
    return [citeEntry(parseEntryId(entry), session), `${TODO_BOXES[state]} ${text}`] as const;
  });
  return [
    "",
    ...wrapText(title, columns).map((line) => paint("bold", line)),
    ...renderRows(rows, columns, paint),
  ];
}

/** Content that people have brought back by reverts, and the way to release it. */
function renderHeld({ now, session }: ContextReport, look: ContextPrintOptions): readonly string[] {
  const { columns, paint, isQuiet } = look;
  const { held = [] } = now;
  if (held.length === 0) return [];
  const rows = held.map(({ revert, messages, tokens, messagesLeft }) => {
    const cite = citeEntry(revert, session);
    const shown = `${formatQuantity(messages, "message")}, ${formatQuantity(tokens, "token")}`;
    const left = messagesLeft > 0 ? `; the limit has forced ${formatCount(messagesLeft)} more out` : "";
    const which = revert.session === session ? String(revert.seq) : cite;
    const command = `longhaul revert ${quoteShellWord(session)} ${quoteShellWord(which)}`;
    return [cite, `${shown}${left}${isQuiet ? "" : `; release: ${command}`}`] as const;
  });
  return [
    "",
    ...wrapText("Held: brought back by a revert, stays until the limit forces it out", columns).map((line) =>
      paint("bold", line),
    ),
    ...renderRows(rows, columns, paint),
  ];
}

function renderOverlays({ overlays, session }: ContextReport, look: ContextPrintOptions): readonly string[] {
  const { columns, paint, isFull, isQuiet } = look;
  if (overlays.length === 0) return wrapText("No edits: the window matches the log.", columns);
  const shown = isFull ? overlays : overlays.slice(0, SHOWN_OVERLAYS);
  const more = overlays.length - shown.length;
  const hints = [
    ...(more > 0 ? [`${formatQuantity(more, "older overlay")} not shown; --full lists all`] : []),
    ...(isQuiet ? [] : [`undo: longhaul revert ${quoteShellWord(session)}`]),
  ];
  return [
    paint("bold", fitText("In force, newest first", columns)),
    ...shown.flatMap((entry) => renderOverlay(entry, session, look)),
    ...hints.flatMap((hint) => wrapText(escapeLine(hint), columns)).map((line) => paint("dim", line)),
  ];
}

function renderNext({ next }: ContextReport, look: ContextPrintOptions): readonly string[] {
  const { columns, paint, isFull } = look;
  if (!next) return [];
  const { plan } = next;
  const sent = plan ? formatFullness(next) : "this window unchanged";
  const head = wrapText(`The next call would send ${sent}`, columns).map((line) => paint("bold", line));
  if (!plan) return ["", ...head];
  return [
    "",
    ...head,
    ...renderWindowBar(next.parts, columns, paint),
    ...renderRows([["why", explainEdit(plan)], ...buildReceiptRows(plan.receipt, isFull)], columns, paint),
  ];
}

/** Formats an overlay with its receipt. */
function renderOverlay(
  entry: Entry<OverlayBody>,
  session: SessionId,
  look: OverlayPrintOptions,
): readonly string[] {
  const { columns, paint, isFull, now } = look;
  const at = entry.madeAt ?? entry.at;
  const when = `${formatTime(at)} (${formatAgo(at, now)})`;
  const head = `${citeEntry(entry, session)} ${escapeLine(`${entry.author} ${describeEdit(entry.edit)}`)}`;
  return [
    ...wrapText(head, columns).map((line) => paint("bold", line)),
    ...renderRows(
      [["when", when], ["why", explainEdit(entry)], ...buildFigureRows(entry, isFull)],
      columns,
      paint,
    ),
  ];
}

/** Edits imported from other tools have no receipt, but often report their token counts. */
function buildFigureRows(
  { receipt, tokensBefore, tokensAfter }: OverlayBody,
  isFull: boolean,
): readonly LabeledRow[] {
  if (receipt) return buildReceiptRows(receipt, isFull);
  if (tokensBefore === undefined || tokensAfter === undefined) return [];
  return [["size", formatTokenChange(tokensBefore, tokensAfter)]];
}

/** Draws a window as a bar of colored blocks, or of letters without color, with a legend of token counts. */
function renderWindowBar(parts: WindowBreakdown, columns: number, paint: Paint): readonly string[] {
  const widths = apportionColumns(
    PART_NAMES.map((name) => parts[name]),
    Math.min(columns, MAX_BAR_COLUMNS),
  );
  const bar = PART_NAMES.map((name, index) => drawBlocks(name, widths[index] ?? 0, paint)).join("");
  return [bar, ...renderLegend(parts, columns, paint)];
}

function renderLegend(parts: WindowBreakdown, columns: number, paint: Paint): readonly string[] {
  const whole = PART_NAMES.reduce((sum, name) => sum + parts[name], 0);
  const rows = PART_NAMES.filter((name) => parts[name] > 0 || name === "history" || name === "free");
  const nameWidth = Math.max(...rows.map((name) => name.length));
  const countWidth = Math.max(...rows.map((name) => formatCount(parts[name]).length));
  return rows.map((name) => {
    const count = padText(formatCount(parts[name]), countWidth, "right");
    const share = padText(formatShare(parts[name], whole), 4, "right");
    const words = fitText(` ${padText(name, nameWidth)}  ${count} ${share}`, columns - 1);
    return drawBlocks(name, 1, paint) + words;
  });
}

function drawBlocks(name: PartName, width: number, paint: Paint): string {
  const { letter, block, look } = PART_STYLES[name];
  if (width === 0) return "";
  return paint === plainPaint ? letter.repeat(width) : paint(look, block.repeat(width));
}

/** Distributes columns in proportion to counts; every count above 0 gets at least one column if there are enough. */
export function apportionColumns(counts: readonly number[], columns: number): readonly number[] {
  const whole = counts.reduce((sum, count) => sum + count, 0);
  if (whole === 0) return counts.map(() => 0);
  const widths = counts.map((count) => (count > 0 ? Math.max(1, Math.round((count / whole) * columns)) : 0));
  for (let over = sum(widths) - columns; over !== 0; over = sum(widths) - columns) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 0) - Math.sign(over);
  }
  return widths;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Formats a receipt for people; figures are without the edit → with it. */
function buildReceiptRows(receipt: Receipt, isFull: boolean): readonly LabeledRow[] {
  const { tokens, cachedShare, thisCall, nextCalls, cache } = receipt;
  const assumed = receipt.arePricesAssumed ? " (assumed prices)" : "";
  return [
    ["size", formatTokenChange(tokens.without, tokens.with)],
    ["cached", `${formatCompared(cachedShare, (share) => `${Math.round(100 * share)}%`)} (cache ${cache})`],
    ["this call", `${formatCompared(thisCall, formatDollars)}, estimated${assumed}`],
    ["next calls", `${formatCompared(nextCalls, formatDollars)} each, estimated, while the cache is hot`],
    ["break-even", formatBreakEven(receipt)],
    ["removed", formatCut(receipt, isFull)],
    ...(receipt.thinking ? [["thinking", formatThinking(receipt.thinking)] as const] : []),
  ];
}

function formatCompared(figures: Comparison, words: (figure: number) => string): string {
  return `${words(figures.without)} → ${words(figures.with)}`;
}

function formatBreakEven({ breakEvenCalls, expectedCalls }: Receipt): string {
  const expected = `; ${formatCount(Math.round(expectedCalls))} more expected`;
  if (breakEvenCalls === null) return `never${expected}`;
  return `${breakEvenCalls === 0 ? "immediately" : `after ${formatQuantity(breakEvenCalls, "more call")}`}${expected}`;
}

function formatThinking({ replies, tokens, rethinking }: NonNullable<Receipt["thinking"]>): string {
  const lost = `lost for ${formatQuantity(replies, "reply", "replies")}, ${formatCount(tokens)} tokens`;
  return `${lost}; ${formatDollars(rethinking)} to think a part of it again, estimated`;
}

function formatCut({ left }: Receipt, isFull: boolean): string {
  const { entries, identifiers, named } = left;
  const counts = `${formatQuantity(entries, "message")}, ${formatQuantity(identifiers, "name")}`;
  if (named.length === 0) return counts;
  const shown = isFull ? named : named.slice(0, MAX_NAMED);
  return `${counts}: ${shown.join(", ")}${identifiers > shown.length ? ", …" : ""}`;
}
