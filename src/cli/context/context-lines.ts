import type { CacheState, Fitted } from "../../index.ts";
import { formatAgo } from "../ago.ts";
import { windowDiff } from "../compacting/window-diff.ts";
import { countOf, formatCount, formatShare } from "../count.ts";
import { escapeLine } from "../escape.ts";
import { shellWord } from "../shell-word.ts";
import { spendingLines, unpricedLines } from "../spending/spending-table.ts";
import { fitTo } from "../width.ts";
import { wrapTo } from "../wrap.ts";
import { barLines } from "./bar.ts";
import { cite } from "./cite.ts";
import { entryWords } from "./entry-words.ts";
import { type OverlayLook, overlayLines } from "./overlay-lines.ts";
import { receiptRows } from "./receipt-rows.ts";
import type { ContextReport } from "./report.ts";
import { rowLines } from "./rows.ts";
import { whyWords } from "./why.ts";

/** Options for printing a window report. */
export interface ContextLook extends OverlayLook {
  readonly isQuiet: boolean;
}

const SHOWN_OVERLAYS = 5;
const SHOWN_DAYS = 3;
const CACHE: Readonly<Record<CacheState, string>> = {
  hot: "hot: the next call reads the last request at the cached price",
  cold: "cold: the next call writes the whole prompt again",
  unknown: "unknown: no usage reported",
};

/** Formats the report about a window for people. */
export function contextLines(report: ContextReport, look: ContextLook): readonly string[] {
  return [
    ...windowLines(report, look),
    "",
    ...usageLines(report, look),
    ...pinLines(report, look),
    "",
    ...overlaysLines(report, look),
    ...nextLines(report, look),
    ...diffLines(report, look),
  ];
}

function diffLines({ diff, next }: ContextReport, look: ContextLook): readonly string[] {
  if (!diff) return [];
  const { columns, paint, isFull } = look;
  const title = next ? "Changes in the next call" : "Difference between log and window";
  const head = ["", ...wrapTo(title, columns).map((line) => paint("bold", line))];
  if (diff.changes.every(({ type }) => type === "stays")) return [...head, "None."];
  const cut = diff.isCut ? wrapTo("Older messages of the line are not compared.", columns) : [];
  return [...head, ...cut, ...windowDiff(diff.changes, { columns, paint, isFull, isBrief: true })];
}

function windowLines({ described, now, session }: ContextReport, look: ContextLook): readonly string[] {
  const { columns, paint } = look;
  const model = described.model ?? "an unnamed model";
  return [
    paint("bold", fitTo(escapeLine(session), columns)),
    ...wrapTo(`${fullWords(now)} for ${escapeLine(model)}`, columns),
    ...barLines(now.parts, columns, paint),
    ...overLines(now, look),
    ...hintLines(now, look),
  ];
}

function fullWords({ tokens, limits, messages }: Fitted): string {
  const share = formatShare(tokens, limits.window);
  return `${formatCount(tokens)} of ${formatCount(limits.window)} tokens (${share}), ${countOf(messages.length, "message")}`;
}

function overLines({ tokens, limits }: Fitted, { columns, paint }: ContextLook): readonly string[] {
  if (tokens <= limits.most) return [];
  const over = `${formatCount(tokens - limits.most)} tokens over the limit; the next call edits the window first`;
  return wrapTo(over, columns).map((line) => paint("yellow", line));
}

function hintLines({ parts }: Fitted, { columns, paint, isQuiet }: ContextLook): readonly string[] {
  if (isQuiet || parts.system + parts.tools > 0) return [];
  const hint = "the log contains no system prompt and no tools; set their sizes with --system and --tools";
  return wrapTo(hint, columns).map((line) => paint("dim", line));
}

function usageLines({ books, now }: ContextReport, look: ContextLook): readonly string[] {
  const { columns, paint, isFull } = look;
  const { last, total, days } = books;
  const state = wrapTo(`cache ${CACHE[now.cache]}`, columns);
  if (!last) return ["No usage reported.", ...state];
  const rows = [
    { name: `last request, ${formatAgo(last.at, look.now)}`, totals: last.totals },
    ...(isFull ? days : days.slice(-SHOWN_DAYS)).toReversed(),
    { name: "session", totals: total },
  ];
  const notes = unpricedLines(total).flatMap((line) => wrapTo(line, columns));
  return [...spendingLines("", rows, { width: columns, paint }), ...notes, ...state];
}

function pinLines({ pins, session }: ContextReport, { columns, paint }: ContextLook): readonly string[] {
  if (pins.length === 0) return [];
  const rows = pins.map((entry) => [cite(entry, session), entryWords(entry)] as const);
  return ["", paint("bold", "Pinned"), ...rowLines(rows, columns, paint)];
}

function overlaysLines({ overlays, session }: ContextReport, look: ContextLook): readonly string[] {
  const { columns, paint, isFull, isQuiet } = look;
  if (overlays.length === 0) return wrapTo("No edits: the window matches the log.", columns);
  const shown = isFull ? overlays : overlays.slice(0, SHOWN_OVERLAYS);
  const more = overlays.length - shown.length;
  const hints = [
    ...(more > 0 ? [`${countOf(more, "older overlay")} not shown; --full lists all`] : []),
    ...(isQuiet ? [] : [`undo: longhaul revert ${shellWord(session)}`]),
  ];
  return [
    paint("bold", fitTo("In force, newest first", columns)),
    ...shown.flatMap((entry) => overlayLines(entry, session, look)),
    ...hints.flatMap((hint) => wrapTo(escapeLine(hint), columns)).map((line) => paint("dim", line)),
  ];
}

function nextLines({ next }: ContextReport, look: ContextLook): readonly string[] {
  const { columns, paint, isFull } = look;
  if (!next) return [];
  const { plan } = next;
  const sent = plan ? fullWords(next) : "this window unchanged";
  const head = wrapTo(`The next call would send ${sent}`, columns).map((line) => paint("bold", line));
  if (!plan) return ["", ...head];
  return [
    "",
    ...head,
    ...barLines(next.parts, columns, paint),
    ...rowLines([["why", whyWords(plan)], ...receiptRows(plan.receipt, isFull)], columns, paint),
  ];
}
