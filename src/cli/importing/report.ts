import type { ImportReport, ProblemItem, SourceReport, Totals } from "../../formats/index.ts";
import { formatBytes } from "../bytes.ts";
import { countOf, formatCount, formatShare } from "../count.ts";
import { escapeLine } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import type { Paint } from "../paint.ts";
import { type Column, tableLines } from "../table.ts";

/** Maximum problems to print; JSON lists more. */
const SHOWN_PROBLEMS = 20;

/** Options for printing an import report. */
export interface ReportOptions {
  readonly paint: Paint;
  readonly width: number;
  readonly isDryRun: boolean;
  /** A signal ended the import early. */
  readonly isStopped: boolean;
  /** Print only problems. */
  readonly isQuiet: boolean;
}

/** Returns the exit code: `incomplete` if a source failed or records were lost or damaged. */
export function reportExitCode({ totals, problems }: ImportReport): number {
  const { failed, lost, damaged } = totals;
  return failed + lost + damaged + problems.length > 0 ? EXIT.incomplete : EXIT.fine;
}

/** Formats an import report for people. */
export function reportLines(report: ImportReport, options: ReportOptions): readonly string[] {
  return [
    ...(options.isQuiet ? [] : summaryLines(report, options)),
    ...failureLines(report.sources, options),
    ...problemLines(report, options),
    ...(options.isStopped
      ? ["Stopped. Imported messages are kept; run the same command again to resume."]
      : []),
  ];
}

function summaryLines(report: ImportReport, options: ReportOptions): readonly string[] {
  if (report.sources.length > 0) return [...totalsTable(report, options), "", summaryLine(report, options)];
  return options.isStopped ? [] : ["No conversations in a known format found."];
}

function totalsTable(
  { formats, totals }: ImportReport,
  { paint, width, isDryRun }: ReportOptions,
): readonly string[] {
  const count = (title: string): Column => ({ title, align: "right" });
  const columns = [
    { title: "format" },
    ...["conversations", "messages", ...(isDryRun ? [] : ["new", "known"])].map(count),
    ...["tool calls", "images", "usage", "read", "copies", "%"].map(count),
  ];
  const row = (name: string, { sources, found, added, bytesRead, copiedBytes }: Totals) => [
    name,
    formatCount(sources + found.children),
    formatCount(found.messages),
    ...(isDryRun ? [] : [added.messages, found.messages - added.messages].map(formatCount)),
    ...[found.toolCalls, found.images, found.usage].map(formatCount),
    formatBytes(bytesRead),
    formatBytes(copiedBytes),
    formatShare(copiedBytes, bytesRead),
  ];
  const rows = Object.entries(formats).map(([name, own]) => row(name, own));
  return tableLines(columns, rows.length > 1 ? [...rows, row("all", totals)] : rows, { paint, width });
}

function summaryLine({ sources, totals }: ImportReport, { isDryRun }: ReportOptions): string {
  const having = (status: SourceReport["status"]) =>
    sources.filter((source) => source.status === status).length;
  const words = isDryRun
    ? [`${countOf(having("planned"), "conversation")} would be imported`]
    : [`${formatCount(having("imported"))} imported`, `${formatCount(having("unchanged"))} unchanged`];
  if (having("stopped") > 0) words.push(`${formatCount(having("stopped"))} partly imported`);
  if (totals.failed > 0) words.push(`${formatCount(totals.failed)} failed`);
  if (totals.lost > 0) words.push(`${countOf(totals.lost, "record")} lost`);
  if (totals.damaged > 0) words.push(`${countOf(totals.damaged, "record")} damaged`);
  if (totals.openCalls > 0) words.push(`${countOf(totals.openCalls, "tool call")} without a result`);
  return `${words.join(", ")}${isDryRun ? "; nothing was written" : ""}.`;
}

function failureLines(sources: readonly SourceReport[], { paint }: ReportOptions): readonly string[] {
  const failed = sources.filter(({ status }) => status === "failed");
  const lines = failed.slice(0, SHOWN_PROBLEMS).map(({ path, error }) => {
    return `${paint("red", "failed")} ${escapeLine(path)}: ${escapeLine(error ?? "")}`;
  });
  return more(lines, failed.length);
}

function problemLines({ problems, totals }: ImportReport, { paint }: ReportOptions): readonly string[] {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map((problem) => problemLine(problem, paint));
  return more(lines, Math.max(problems.length, totals.lost + totals.damaged));
}

function more(lines: readonly string[], count: number): readonly string[] {
  const missing = count - lines.length;
  return missing > 0 ? [...lines, `… and ${formatCount(missing)} more; --json lists them`] : lines;
}

/** Formats a problem with its file and line. */
export function problemLine({ path, line, severity, reason }: ProblemItem, paint: Paint): string {
  const place = line === undefined ? path : `${path}:${line}`;
  return `${paint(severity === "lost" ? "red" : "yellow", severity)} ${escapeLine(place)}: ${escapeLine(reason)}`;
}
