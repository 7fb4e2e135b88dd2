import type { Kernel, SessionId, SessionRecord } from "../../kernel/index.ts";
import {
  buildControlReport,
  type ControlFigure,
  type ControlGroup,
  type ControlReport,
} from "../../kernel/usage/control-report.ts";
import { type RequestUsage, readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { type NamedTotals, UsageSums } from "../../kernel/usage/usage-sums.ts";
import { findSessionOwner, mapPersonNames } from "../../model/session-key.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { findSession, listSessions } from "../find-session.ts";
import { parseSince } from "../importing/parse-since.ts";
import { openExistingStore } from "../open-store.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import {
  formatCost,
  renderSavings,
  renderSizes,
  renderSpending,
  renderUnpricedNote,
} from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { formatTime } from "../terminal/format-time.ts";
import { createPagedPrinter } from "../terminal/paged-printer.ts";
import type { Paint } from "../terminal/paint.ts";
import { printResult } from "../terminal/print-lines.ts";
import { createPlainPrinter, type Printer } from "../terminal/printer.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { fitText, padText } from "../terminal/width.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { UsageError } from "../usage-error.ts";

/** Reports the tokens and cost of requests. */
export const usageCommand = defineCommand({
  name: "usage",
  summary: "show the tokens and cost of one conversation or of all",
  usage: [
    "usage [session] [--by day|model|session|project|agent|person|request] [--since TIME]",
    "usage --control [--since TIME]",
  ],
  about:
    "Counts the usage that providers reported, including on abandoned lines. If a report names no cost, the prices of its model apply. Savings are estimated: each request is compared with the same request without edits, at cache prices only where its provider reported a cache, and the cost of the edits themselves is included. With --control, savings are measured: conversations that were edited are compared with those that were left alone, per agent and model. Days are in UTC.",
  options: {
    by: {
      type: "string",
      value: "WAY",
      help: "one row per day, model, session, project, agent, person or request (default: day)",
    },
    control: {
      type: "boolean",
      help: "compare edited conversations with the control group that the gateway leaves unedited",
    },
    since: { type: "string", value: "TIME", help: "only requests since then: 12h, 30d, 6m, 2026-01-01" },
  },
  maxOperands: 1,
  examples: [
    "longhaul usage",
    "longhaul usage --by project --since 30d",
    "longhaul usage ticket-4711 --by model",
    "longhaul usage ticket-4711 --by request --json",
    "longhaul usage --control --since 30d",
  ],
  async run(context, { operands: [wanted], options }) {
    const by = findNamed("by", options.by ?? "day", GROUPINGS).name;
    const since = options.since === undefined ? 0 : parseSince(options.since, Date.now());
    if (options.control && (wanted !== undefined || options.by !== undefined))
      throw new UsageError(
        "--control compares all conversations; it cannot be combined with a session or --by",
      );
    await using kernel = await openExistingStore(context, options);
    if (options.control) {
      const records = listSessions(kernel);
      const report = await buildControlReport(kernel, { records, since, signal: context.signal });
      const look = { width: context.columns.stdout, paint: choosePaint(context, options) };
      await printResult(
        context,
        options,
        () => report,
        () => renderControl(report, look),
      );
      return EXIT.fine;
    }
    const session =
      wanted === undefined ? undefined : await findSession(kernel, wanted, getSessionScope(context, options));
    const titles = new Map<string, string>();
    const spent = readAllRequests(kernel, { session, by, since, titles, signal: context.signal });
    const printer = options.json
      ? createPlainPrinter(context.stdout, context.signal)
      : createPagedPrinter(context);
    const paint = choosePaint(context, options);
    const report: UsagePrintout = { context, printer, spent, session, by, titles, paint };
    try {
      await (options.json ? streamJson(report) : printText(report));
    } finally {
      await printer.close();
    }
    return EXIT.fine;
  },
});

interface UsagePrintout {
  readonly context: CliContext;
  readonly printer: Printer;
  readonly spent: AsyncIterable<GroupedUsage>;
  readonly session: SessionId | undefined;
  readonly by: Grouping;
  /** Titles by session id, as far as they were read. */
  readonly titles: ReadonlyMap<string, string>;
  readonly paint: Paint;
}

interface GroupedUsage {
  readonly usage: RequestUsage;
  readonly group: string | undefined;
}

async function* readAllRequests(
  kernel: Kernel,
  {
    session: only,
    by,
    since,
    titles,
    signal,
  }: {
    readonly session: SessionId | undefined;
    readonly by: Grouping;
    readonly since: number;
    readonly titles: Map<string, string>;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<GroupedUsage> {
  const names = mapPersonNames(by === "person" ? await kernel.team.people() : []);
  for await (const record of only === undefined ? listSessions(kernel) : findRecord(kernel, only)) {
    signal.throwIfAborted();
    await using session = await kernel.session(record.id);
    if ((await session.head()).at < since) continue;
    if (record.title !== undefined && by === "session") titles.set(record.id, record.title);
    const group = findGroup(record, by, names);
    for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model)))
      if (usage.at >= since) yield { usage, group };
  }
}

async function* findRecord(kernel: Kernel, id: SessionId): AsyncGenerator<SessionRecord> {
  const record = await kernel.find(id);
  if (record) yield record;
}

async function printText(report: UsagePrintout): Promise<void> {
  const { context, printer, spent, session, by, titles, paint } = report;
  const width = context.columns.stdout;
  const sums = new UsageSums();
  for await (const { usage, group } of spent) {
    sums.add(usage, group);
    if (by !== "request") continue;
    const line = formatRequestUsage(usage, session === undefined);
    await printer.print(`${Number.isFinite(width) ? fitText(line, width) : line}\n`);
  }
  const { total } = sums;
  if (total.requests === 0) return printer.print("No usage reported.\n");
  const texts = [...renderUnpricedNote(total), ...renderSavings(sums.savings), ...renderSizes(sums.sizes)];
  const notes = texts.flatMap((line) => wrapText(line, width)).map((line) => paint("dim", line));
  const lines =
    by === "request"
      ? [`${formatQuantity(total.requests, "request")}, ${formatCost(total)}`]
      : renderRows(by, selectRows(sums, by), { titles, total: { name: "all", totals: total }, width, paint });
  await printer.print([...lines, ...notes].map((line) => `${line}\n`).join(""));
}

/** Formats the rows with bars; a pipe gets no bars. */
function renderRows(
  by: Grouping,
  rows: readonly NamedTotals[],
  {
    titles,
    total,
    width,
    paint,
  }: {
    readonly titles: ReadonlyMap<string, string>;
    readonly total: NamedTotals;
    readonly width: number;
    readonly paint: Paint;
  },
): readonly string[] {
  const named = rows.map(({ name, totals }) => ({ name: titles.get(name) ?? name, totals }));
  const bars = Number.isFinite(width) ? named : [];
  return renderSpending(by, [...named, total], { width, paint, bars });
}

/** Streams one JSON document while the log is being read. */
async function streamJson({ printer, spent, session, by, titles }: UsagePrintout): Promise<void> {
  await printer.print(
    `{${session === undefined ? "" : `"session":${toSafeJson(session)},`}"by":"${by}","rows":[`,
  );
  const sums = new UsageSums();
  let separator = "";
  for await (const { usage, group } of spent) {
    sums.add(usage, group);
    if (by !== "request") continue;
    const { totals, savings, ...facts } = usage;
    await printer.print(`${separator}\n${toSafeJson({ ...facts, ...totals, savings })}`);
    separator = ",";
  }
  const written = selectRows(sums, by)
    .map(({ name, totals }) => `\n${toSafeJson({ [by]: name, title: titles.get(name), ...totals })}`)
    .join(",");
  const { total, savings } = sums;
  await printer.print(
    `${written}\n],"total":${toSafeJson(total)},"savings":${toSafeJson(savings)},"sizes":${toSafeJson(sums.sizes)}}\n`,
  );
}

const MODEL_WIDTH = 26;

/**
 * Formats one request on one line. Column widths are fixed, because lines are printed before all requests are known.
 */
function formatRequestUsage({ at, model = "", totals, session }: RequestUsage, isOfMany: boolean): string {
  const cells = [
    formatTime(at),
    padText(fitText(escapeLine(model), MODEL_WIDTH), MODEL_WIDTH),
    `↑ ${padText(formatCount(totals.inputTokens), 9, "right")}`,
    `↓ ${padText(formatCount(totals.outputTokens), 8, "right")}`,
    `read ${padText(formatCount(totals.cacheReadTokens), 9, "right")}`,
    `write ${padText(formatCount(totals.cacheWriteTokens), 9, "right")}`,
    padText(formatCost(totals), 9, "right"),
    ...(isOfMany ? [escapeLine(session)] : []),
  ];
  return cells.join("  ");
}

const COLUMNS: readonly Column[] = [
  { title: "per conversation" },
  { title: "control", align: "right" },
  { title: "edited", align: "right" },
  { title: "difference", align: "right" },
  { title: "95% interval", align: "right" },
];
const NAMES: Readonly<Record<ControlFigure["name"], string>> = {
  tokens: "tokens",
  cost: "cost",
  steps: "steps",
  rereads: "re-reads",
  overflows: "overflow errors",
  corrections: "user corrections",
};
const NONE = `No conversation has an arm yet. "control": 0.1 in longhaul.json leaves a tenth of new conversations unedited.`;

/** Formats a comparison of the arms of a control group. */
function renderControl(
  { groups, minConversations }: ControlReport,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): readonly string[] {
  if (groups.length === 0) return wrapText(NONE, width);
  return groups.flatMap((group, index) => {
    const { control, edited } = group.conversations;
    const counts = `measured: ${formatQuantity(control, "conversation")} in the control arm, ${formatCount(edited)} edited`;
    const few = group.isEnough
      ? []
      : [`Too few to compare: each arm needs ${formatCount(minConversations)} conversations.`];
    return [
      ...(index > 0 ? [""] : []),
      ...wrapText(`${describeGroup(group)}, ${counts}`, width).map((line) => paint("bold", line)),
      ...few.flatMap((line) => wrapText(line, width)).map((line) => paint("yellow", line)),
      ...renderTable(COLUMNS, group.figures.map(toRow), { width, paint }),
    ];
  });
}

function describeGroup({ agent, model }: ControlGroup): string {
  if (agent === undefined) return "All agents and models";
  return escapeLine(`${agent}, ${model ?? ""}`);
}

function toRow({ name, control, edited, difference, low, high }: ControlFigure): readonly string[] {
  const format = (value: number) => formatFigure(name, value);
  const signed = (value: number) => (Number.isNaN(value) ? "–" : `${value > 0 ? "+" : ""}${format(value)}`);
  const share = control > 0 && Number.isFinite(difference) ? ` (${formatPercent(difference / control)})` : "";
  const interval = Number.isNaN(low) ? "–" : `${signed(low)} to ${signed(high)}`;
  return [NAMES[name], format(control), format(edited), `${signed(difference)}${share}`, interval];
}

function formatFigure(name: ControlFigure["name"], value: number): string {
  if (Number.isNaN(value)) return "–";
  if (name === "cost") return value < 0 ? `-${formatDollars(-value)}` : formatDollars(value);
  return name === "tokens" ? formatCount(Math.round(value)) : value.toFixed(2);
}

function formatPercent(share: number): string {
  return `${share > 0 ? "+" : ""}${Math.round(100 * share)}%`;
}

/** Ways to group usage. */
const GROUPINGS = [
  { name: "day" },
  { name: "model" },
  { name: "session" },
  { name: "project" },
  { name: "agent" },
  { name: "person" },
  { name: "request" },
] as const;

type Grouping = (typeof GROUPINGS)[number]["name"];

/** The group of a session's requests; undefined if days, models or requests are the groups. `names` are those of people by id. */
function findGroup(
  record: SessionRecord,
  by: Grouping,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (by === "session") return record.id;
  if (by === "project") return findOrigin(record).project ?? "(unknown)";
  if (by === "agent") return findOrigin(record).agent ?? "(unknown)";
  return by === "person" ? findSessionOwner(record.id, names) : undefined;
}

/** The rows of a report. */
function selectRows(sums: UsageSums, by: Grouping): readonly NamedTotals[] {
  if (by === "request") return [];
  return by === "day" ? sums.days : by === "model" ? sums.models : sums.groups;
}
