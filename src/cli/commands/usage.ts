import type { FactsOf, Kernel, SessionId } from "../../index.ts";
import { defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { countOf } from "../count.ts";
import { safeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findSession, sessionIds } from "../find-session.ts";
import { paintFor } from "../look.ts";
import { findNamed } from "../named.ts";
import { pagedPrinter } from "../pager.ts";
import type { Paint } from "../paint.ts";
import { type Printer, plainPrinter } from "../printer.ts";
import { Books } from "../spending/books.ts";
import { requestLine } from "../spending/request-line.ts";
import { costWords, spendingLines, unpricedLines } from "../spending/spending-table.ts";
import { type SpentRequest, spentRequests } from "../spending/spent-requests.ts";
import { openExistingStore } from "../store.ts";
import { fitTo } from "../width.ts";

const WAYS = [{ name: "day" }, { name: "model" }, { name: "request" }] as const;

/** Reports the tokens and cost of requests. */
export const usageCommand = defineCommand({
  name: "usage",
  summary: "show the tokens and cost of one conversation or of all",
  usage: ["usage [session] [--by day|model|request]"],
  about:
    "Counts the usage that providers reported, including on abandoned lines. If a report names no cost, the prices of its model apply. Days are in UTC.",
  options: { by: { type: "string", value: "WAY", help: "one row per day, model or request (default: day)" } },
  maxOperands: 1,
  examples: [
    "longhaul usage",
    "longhaul usage ticket-4711 --by model",
    "longhaul usage ticket-4711 --by request --json",
  ],
  async run(context, { operands: [wanted], options }) {
    const by = findNamed("by", options.by ?? "day", WAYS).name;
    await using kernel = await openExistingStore(context, options);
    const session = wanted === undefined ? undefined : await findSession(kernel, wanted);
    const spent = allRequests(kernel, session, (model) => kernel.modelFacts(model), context.signal);
    const printer = options.json ? plainPrinter(context.stdout, context.signal) : pagedPrinter(context);
    const report: Report = { context, printer, spent, session, by, paint: paintFor(context, options) };
    try {
      await (options.json ? printJson(report) : printText(report));
    } finally {
      await printer.close();
    }
    return EXIT.fine;
  },
});

interface Report {
  readonly context: Context;
  readonly printer: Printer;
  readonly spent: AsyncIterable<SpentRequest>;
  readonly session: SessionId | undefined;
  readonly by: (typeof WAYS)[number]["name"];
  readonly paint: Paint;
}

async function* allRequests(
  kernel: Kernel,
  only: SessionId | undefined,
  factsOf: FactsOf,
  signal: AbortSignal,
): AsyncGenerator<SpentRequest> {
  for await (const id of only === undefined ? sessionIds(kernel) : [only]) {
    signal.throwIfAborted();
    await using session = await kernel.session(id);
    yield* spentRequests(session, factsOf);
  }
}

async function printText({ context, printer, spent, session, by, paint }: Report): Promise<void> {
  const width = context.columns.stdout;
  const books = new Books();
  for await (const one of spent) {
    books.add(one);
    if (by !== "request") continue;
    const line = requestLine(one, session === undefined);
    await printer.print(`${Number.isFinite(width) ? fitTo(line, width) : line}\n`);
  }
  const { total } = books;
  if (total.requests === 0) return printer.print("No usage reported.\n");
  const lines =
    by === "request"
      ? [`${countOf(total.requests, "request")}, ${costWords(total)}`]
      : spendingLines(by, [...rowsBy(books, by), { name: "all", totals: total }], { width, paint });
  const notes = unpricedLines(total).map((line) => paint("dim", fitTo(line, width)));
  await printer.print([...lines, ...notes].map((line) => `${line}\n`).join(""));
}

/** Streams one JSON document while the log is being read. */
async function printJson({ printer, spent, session, by }: Report): Promise<void> {
  await printer.print(
    `{${session === undefined ? "" : `"session":${safeJson(session)},`}"by":"${by}","rows":[`,
  );
  const books = new Books();
  let separator = "";
  for await (const one of spent) {
    books.add(one);
    if (by !== "request") continue;
    const { totals, ...facts } = one;
    await printer.print(`${separator}\n${safeJson({ ...facts, ...totals })}`);
    separator = ",";
  }
  const rows = by === "request" ? [] : rowsBy(books, by);
  const written = rows.map(({ name, totals }) => `\n${safeJson({ [by]: name, ...totals })}`).join(",");
  await printer.print(`${written}\n],"total":${safeJson(books.total)}}\n`);
}

function rowsBy(books: Books, by: "day" | "model") {
  return by === "day" ? books.days : books.models;
}
