import type { ImportReport, ImportTotals, ProblemItem, SourceReport } from "../../histories/index.ts";
import { EXIT } from "../exit-code.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount, formatQuantity, formatShare } from "../terminal/format-count.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, renderTable } from "../terminal/table.ts";

/** Maximum problems to print; JSON lists more. */
const SHOWN_PROBLEMS = 20;

/** Options for printing an import report. */
interface ImportReportOptions {
  readonly paint: Paint;
  readonly width: number;
  readonly isDryRun: boolean;
  /** A signal ended the import early. */
  readonly isStopped: boolean;
  /** Print only problems. */
  readonly isQuiet: boolean;
}

/** Returns the exit code: `incomplete` if a source failed or records were lost or damaged. */
export function getReportExitCode({ totals, problems }: ImportReport): number {
  const { failed, lost, damaged } = totals;
  return failed + lost + damaged + problems.length > 0 ? EXIT.incomplete : EXIT.fine;
}

/** Formats an import report for people. */
export function renderImportReport(report: ImportReport, options: ImportReportOptions): readonly string[] {
  return [
    ...(options.isQuiet ? [] : renderSummary(report, options)),
    ...renderFailures(report.sources, options),
    ...renderProblems(report, options),
    ...(options.isStopped
      ? ["Stopped. Imported messages are kept; run the same command again to resume."]
      : []),
  ];
}

function renderSummary(report: ImportReport, options: ImportReportOptions): readonly string[] {
  if (report.sources.length > 0)
    return [...renderTotals(report, options), "", formatSummary(report, options)];
  return options.isStopped ? [] : ["No conversations in a known format found."];
}

function renderTotals(
  { formats, totals }: ImportReport,
  { paint, width, isDryRun }: ImportReportOptions,
): readonly string[] {
  const count = (title: string): Column => ({ title, align: "right" });
  const columns = [
    { title: "format" },
    ...["conversations", "sub-agents", "messages", ...(isDryRun ? [] : ["new", "known"])].map(count),
    ...["tool calls", "images", "usage", "read", "copies", "%"].map(count),
  ];
  const row = (name: string, { sources, found, added, bytesRead, copiedBytes }: ImportTotals) => [
    name,
    formatCount(sources),
    formatCount(found.children),
    formatCount(found.messages),
    ...(isDryRun ? [] : [added.messages, found.messages - added.messages].map(formatCount)),
    ...[found.toolCalls, found.images, found.usage].map(formatCount),
    formatBytes(bytesRead),
    formatBytes(copiedBytes),
    formatShare(copiedBytes, bytesRead),
  ];
  const rows = Object.entries(formats).map(([name, own]) => row(name, own));
  return renderTable(columns, rows.length > 1 ? [...rows, row("all", totals)] : rows, { paint, width });
}

function formatSummary({ sources, totals }: ImportReport, { isDryRun }: ImportReportOptions): string {
  const having = (status: SourceReport["status"]) =>
    sources.filter((source) => source.status === status).length;
  const words = isDryRun
    ? [`${formatQuantity(having("planned"), "conversation")} would be imported`]
    : [`${formatCount(having("imported"))} imported`, `${formatCount(having("unchanged"))} unchanged`];
  if (having("forgotten") > 0)
    words.push(`${formatCount(having("forgotten"))} forgotten here and left out (--forgotten imports them)`);
  if (having("refused") > 0)
    words.push(
      `${formatCount(having("refused"))} in a working tree left out (name their path and answer the question; one that git tracks is never imported)`,
    );
  const known = sources.filter(({ status }) => status !== "failed").map(({ session }) => session);
  const repeated = known.length - new Set(known).size;
  if (repeated > 0)
    words.push(`${formatCount(repeated)} of them continue${repeated === 1 ? "s" : ""} another conversation`);
  if (having("stopped") > 0) words.push(`${formatCount(having("stopped"))} partly imported`);
  if (totals.failed > 0) words.push(`${formatCount(totals.failed)} failed`);
  if (totals.lost > 0) words.push(`${formatQuantity(totals.lost, "record")} lost`);
  if (totals.damaged > 0) words.push(`${formatQuantity(totals.damaged, "record")} damaged`);
  if (totals.openCalls > 0) words.push(`${formatQuantity(totals.openCalls, "tool call")} without a result`);
  return `${words.join(", ")}${isDryRun ? "; nothing was written" : ""}.`;
}

function renderFailures(sources: readonly SourceReport[], { paint }: ImportReportOptions): readonly string[] {
  const failed = sources.filter(({ status }) => status === "failed");
  const lines = failed.slice(0, SHOWN_PROBLEMS).map(({ path, error }) => {
    return `${paint("red", "failed")} ${escapeLine(path)}: ${escapeLine(error ?? "")}`;
  });
  return addOmittedCount(lines, failed.length);
}

function renderProblems(
  { problems, totals }: ImportReport,
  { paint }: ImportReportOptions,
): readonly string[] {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map((problem) => formatProblem(problem, paint));
  return addOmittedCount(lines, Math.max(problems.length, totals.lost + totals.damaged));
}

function addOmittedCount(lines: readonly string[], count: number): readonly string[] {
  const missing = count - lines.length;
  return missing > 0 ? [...lines, `… and ${formatCount(missing)} more; --json lists them`] : lines;
}

/** Formats a problem with its file and line. */
export function formatProblem({ path, line, severity, reason }: ProblemItem, paint: Paint): string {
  const place = line === undefined ? path : `${path}:${line}`;
  return `${paint(severity === "lost" ? "red" : "yellow", severity)} ${escapeLine(place)}: ${escapeLine(reason)}`;
}
