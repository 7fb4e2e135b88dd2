import { type FittedWindow, parseEntryId } from "../../index.ts";
import { type CacheState, extractCarryOver, type TodoItem } from "../../window-entry.ts";
import { renderWindowDiff } from "../compacting/render-window-diff.ts";
import { escapeLine } from "../escape.ts";
import { formatCount, formatQuantity, formatShare } from "../format-count.ts";
import { formatAgo } from "../format-time.ts";
import { quoteShellWord } from "../quote-shell-word.ts";
import { renderSavings } from "../spending/render-savings-note.ts";
import { renderSpending, renderUnpricedNote } from "../spending/render-spending.ts";
import { explainEdit } from "../transcript/explain-edit.ts";
import { fitText } from "../width.ts";
import { wrapText } from "../wrap-text.ts";
import { citeEntry } from "./cite-entry.ts";
import type { ContextReport } from "./context-report.ts";
import { formatEntryExcerpt } from "./format-entry-excerpt.ts";
import { renderRows } from "./labeled-row.ts";
import { buildReceiptRows } from "./receipt-rows.ts";
import { type OverlayPrintOptions, renderOverlay } from "./render-overlay.ts";
import { renderWindowBar } from "./render-window-bar.ts";

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

/** Formats the report about a window for people. */
export function renderContext(report: ContextReport, look: ContextPrintOptions): readonly string[] {
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
