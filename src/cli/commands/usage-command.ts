import type { Kernel, SessionId } from "../../index.ts";
import type { ModelFactsLookup } from "../../window-entry.ts";
import { choosePaint } from "../choose-paint.ts";
import { defineCommand } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { toSafeJson } from "../escape.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { findSession, listSessionIds } from "../find-session.ts";
import { formatQuantity } from "../format-count.ts";
import { openExistingStore } from "../open-store.ts";
import { createPagedPrinter } from "../paged-printer.ts";
import type { Paint } from "../paint.ts";
import { createPlainPrinter, type Printer } from "../printer.ts";
import { formatRequestUsage } from "../spending/format-request-usage.ts";
import { formatCost, renderSpending, renderUnpricedNote } from "../spending/render-spending.ts";
import { type RequestUsage, readRequestUsage } from "../spending/request-usage.ts";
import { UsageSums } from "../spending/usage-sums.ts";
import { fitText } from "../width.ts";

const GROUPINGS = [{ name: "day" }, { name: "model" }, { name: "request" }] as const;

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
    const by = findNamed("by", options.by ?? "day", GROUPINGS).name;
    await using kernel = await openExistingStore(context, options);
    const session = wanted === undefined ? undefined : await findSession(kernel, wanted);
    const spent = readAllRequests(kernel, session, (model) => kernel.modelFacts(model), context.signal);
    const printer = options.json
      ? createPlainPrinter(context.stdout, context.signal)
      : createPagedPrinter(context);
    const report: UsagePrintout = {
      context,
      printer,
      spent,
      session,
      by,
      paint: choosePaint(context, options),
    };
    try {
      await (options.json ? printJson(report) : printText(report));
    } finally {
      await printer.close();
    }
    return EXIT.fine;
  },
});

interface UsagePrintout {
  readonly context: CliContext;
  readonly printer: Printer;
  readonly spent: AsyncIterable<RequestUsage>;
  readonly session: SessionId | undefined;
  readonly by: (typeof GROUPINGS)[number]["name"];
  readonly paint: Paint;
}

async function* readAllRequests(
  kernel: Kernel,
  only: SessionId | undefined,
  factsOf: ModelFactsLookup,
  signal: AbortSignal,
): AsyncGenerator<RequestUsage> {
  for await (const id of only === undefined ? listSessionIds(kernel) : [only]) {
    signal.throwIfAborted();
    await using session = await kernel.session(id);
    yield* readRequestUsage(session, factsOf);
  }
}

async function printText({ context, printer, spent, session, by, paint }: UsagePrintout): Promise<void> {
  const width = context.columns.stdout;
  const books = new UsageSums();
  for await (const one of spent) {
    books.add(one);
    if (by !== "request") continue;
    const line = formatRequestUsage(one, session === undefined);
    await printer.print(`${Number.isFinite(width) ? fitText(line, width) : line}\n`);
  }
  const { total } = books;
  if (total.requests === 0) return printer.print("No usage reported.\n");
  const lines =
    by === "request"
      ? [`${formatQuantity(total.requests, "request")}, ${formatCost(total)}`]
      : renderSpending(by, [...selectRows(books, by), { name: "all", totals: total }], { width, paint });
  const notes = renderUnpricedNote(total).map((line) => paint("dim", fitText(line, width)));
  await printer.print([...lines, ...notes].map((line) => `${line}\n`).join(""));
}

/** Streams one JSON document while the log is being read. */
async function printJson({ printer, spent, session, by }: UsagePrintout): Promise<void> {
  await printer.print(
    `{${session === undefined ? "" : `"session":${toSafeJson(session)},`}"by":"${by}","rows":[`,
  );
  const books = new UsageSums();
  let separator = "";
  for await (const one of spent) {
    books.add(one);
    if (by !== "request") continue;
    const { totals, ...facts } = one;
    await printer.print(`${separator}\n${toSafeJson({ ...facts, ...totals })}`);
    separator = ",";
  }
  const rows = by === "request" ? [] : selectRows(books, by);
  const written = rows.map(({ name, totals }) => `\n${toSafeJson({ [by]: name, ...totals })}`).join(",");
  await printer.print(`${written}\n],"total":${toSafeJson(books.total)}}\n`);
}

function selectRows(books: UsageSums, by: "day" | "model") {
  return by === "day" ? books.days : books.models;
}
