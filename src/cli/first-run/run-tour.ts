import { join } from "node:path";
import { type Kernel, type SessionRecord, textOfMessage } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import {
  ESTIMATE_WINDOW,
  ESTIMATES_FILE,
  type EstimateSums,
  type EstimatesOfSize,
  SavingsEstimates,
  type SessionEstimate,
  spreadEvenly,
  sumEstimates,
} from "../../kernel/usage/savings-estimates.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { findAgents } from "../connecting/find-agents.ts";
import { findGatewayAddress } from "../connecting/gateway-address.ts";
import { EXIT } from "../exit-code.ts";
import { collectSessions } from "../find-session.ts";
import { examineLocalHistories } from "../histories/examine-local-histories.ts";
import { describeThreatened } from "../histories/render-histories.ts";
import { choosePlaces } from "../importing/choose-places.ts";
import { importOnce } from "../importing/import-once.ts";
import { getStorePath, openExistingStore } from "../open-store.ts";
import { formatCost } from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine } from "../terminal/escape.ts";
import { formatConversations, formatCount, formatQuantity, formatShare } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { PhaseBar } from "../terminal/phase-bar.ts";
import { printTo } from "../terminal/printer.ts";
import { quoteShellWord } from "../terminal/quote-shell-word.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Time after which a first figure is shown, from the conversations replayed by then. */
const FIRST_FIGURE_MS = 15_000;
const WELCOME = "longhaul remembers the conversations of your agents. It found these on this computer:";
const NOTHING_IMPORTED = `Nothing was imported. When you want to:
  longhaul import      import these conversations
  longhaul dashboard   look at a sample in the browser
  longhaul help        everything else
`;

/** Finds histories on this computer, asks, imports and indexes them, and says their cost with and without longhaul. */
export async function runTour(
  context: CliContext,
  options: CommonValues,
  { isServing = false }: { readonly isServing?: boolean } = {},
): Promise<number> {
  const { stdout, signal } = context;
  const say = (text: string) => printTo(stdout, `${wrapText(text, context.columns.stdout).join("\n")}\n`);
  await printTo(stdout, `${WELCOME}\n\n`);
  const threatened = describeThreatened(await examineLocalHistories(context, undefined));
  if (threatened !== undefined) await say(`${threatened} yet; importing keeps them.\n`);
  const paths = await choosePlaces(context, options, { signal }, { isAgreed: false, isUsual: true });
  if (paths.length === 0 || signal.aborted) {
    if (!isServing && !signal.aborted) await printTo(stdout, `\n${NOTHING_IMPORTED}`);
    return EXIT.fine;
  }
  const file = join(getStorePath(context, options), ESTIMATES_FILE);
  const exitCode = await importOnce(context, options, paths, {
    signal,
    isIndexed: true,
    whileIndexing: (kernel, bar) =>
      showFirstFigure(kernel, file, signal, (text) => {
        bar.clear();
        return say(text);
      }),
  });
  if (signal.aborted) return exitCode;
  const found = await measureSavings(context, options, file);
  await printTo(stdout, "\n");
  for (const line of describeSavings(found)) await say(line);
  const table = renderSizes(found.sums, {
    width: context.columns.stdout,
    paint: choosePaint(context, options),
  });
  await printTo(stdout, table.map((line) => `${line}\n`).join(""));
  if (!isServing) await printTo(stdout, `\n${await renderNext(context, options, found.question)}`);
  return exitCode;
}

/** Replays conversations while others are indexed, and says the first figure after a while. */
async function showFirstFigure(
  kernel: Kernel,
  file: string,
  signal: AbortSignal,
  say: (text: string) => Promise<void>,
): Promise<void> {
  await using estimates = new SavingsEstimates(kernel, file);
  const records = await collectSessions(kernel);
  const ids = spreadEvenly(records.map(({ id }) => id));
  const startedMs = performance.now();
  let isSaid = false;
  await estimates.refresh(ids, {
    signal,
    onProgress: (done) => {
      if (isSaid || done === ids.length || performance.now() - startedMs < FIRST_FIGURE_MS) return;
      isSaid = true;
      void collectEstimates(
        estimates,
        records.filter(({ id }) => ids.slice(0, done).includes(id)),
      ).then((some) => {
        const sums = sumEstimates(some);
        if (sums.unboundedDollars === 0) return;
        const basis = `${formatCount(done)} of ${formatCount(ids.length)} conversations`;
        return say(`First estimate, from ${basis}: ${describeEstimate(sums)}.`).catch(() => undefined);
      });
    },
  });
}

async function collectEstimates(
  estimates: SavingsEstimates,
  records: readonly SessionRecord[],
): Promise<readonly SessionEstimate[]> {
  const found = await Promise.all(records.map(({ id }) => estimates.find(id)));
  return found.filter((one) => one !== undefined && one !== null);
}

/** The money that conversations have cost, and would have cost under the default policy. */
interface FoundSavings {
  readonly spent: UsageSums["total"];
  readonly conversations: number;
  readonly subAgents: number;
  readonly sums: ReturnType<typeof sumEstimates>;
  readonly question: string;
}

async function measureSavings(
  context: CliContext,
  options: CommonValues,
  file: string,
): Promise<FoundSavings> {
  const bar = new PhaseBar(context, options, [{ name: "comparing costs", weight: 1 }]);
  const { signal } = context;
  await using kernel = await openExistingStore(context, options);
  await using estimates = new SavingsEstimates(kernel, file);
  try {
    const records = await collectSessions(kernel);
    const ids = records.map(({ id }) => id);
    await estimates.refresh(ids, {
      signal,
      onProgress: (done) => bar.update("comparing costs", done / ids.length),
    });
    await estimates.keepOnly(ids);
    const spent = new UsageSums();
    for (const id of ids) {
      signal.throwIfAborted();
      await using session = await kernel.session(id);
      for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model)))
        spent.add(usage);
    }
    const subAgents = records.filter(({ relation }) => relation === "child").length;
    return {
      spent: spent.total,
      conversations: records.length - subAgents,
      subAgents,
      sums: sumEstimates(await collectEstimates(estimates, records)),
      question: await findQuestion(kernel, records),
    };
  } finally {
    bar.clear();
  }
}

/** The reported cost and the estimate, each as a sentence. */
function describeSavings({ spent, conversations, subAgents, sums }: FoundSavings): readonly string[] {
  const count = formatConversations(conversations, subAgents);
  if (spent.requests === 0) return [`${count}; they report no usage, so their cost is not known.`];
  const paid = `${count}, ${formatQuantity(spent.requests, "request")}: they cost ${formatCost(spent)}, as reported.`;
  if (sums.unboundedDollars === 0)
    return [paid, "Their models have no known price, so nothing can be estimated."];
  return [
    paid,
    `Replayed with longhaul in a window of ${ESTIMATE_WINDOW / 1_000}k, all of them: ${describeEstimate(sums)}. "longhaul replay --all" shows the same with every policy.`,
  ];
}

/** As "longhaul replay --all" says it. */
function describeEstimate({ dollars, unboundedDollars, unpriced }: EstimateSums): string {
  const share = formatShare(Math.abs(unboundedDollars - dollars), unboundedDollars);
  const without =
    unpriced > 0 ? `, without ${formatQuantity(unpriced, "conversation")} whose price is not known` : "";
  return `${formatDollars(dollars)} instead of ${formatDollars(unboundedDollars)} for prompts, ${share} ${dollars <= unboundedDollars ? "less" : "more"}${without}`;
}

const COLUMNS: readonly Column[] = [
  { title: "largest prompt" },
  ...["conversations and sub-agents", "without", "with longhaul", "less"].map((title) => ({
    title,
    align: "right" as const,
  })),
];

/** The estimate by the size of the conversations: short ones save little, long ones most. */
function renderSizes(
  { sizes }: { readonly sizes: readonly EstimatesOfSize[] },
  look: Parameters<typeof renderTable>[2],
): readonly string[] {
  const used = sizes.filter(({ conversations }) => conversations > 0);
  if (used.every(({ unboundedDollars }) => unboundedDollars === 0)) return [];
  const rows = used.map(({ upToTokens, conversations, dollars, unboundedDollars }) => [
    upToTokens === null ? "larger" : `up to ${upToTokens / 1_000}k tokens`,
    formatCount(conversations),
    formatDollars(unboundedDollars),
    formatDollars(dollars),
    unboundedDollars > 0 ? formatShare(unboundedDollars - dollars, unboundedDollars) : "",
  ]);
  return ["", ...renderTable(COLUMNS, rows, look)];
}

/** Three lines: connect, look, ask. */
async function renderNext(context: CliContext, options: CommonValues, question: string): Promise<string> {
  const agents = findAgents(context).map(({ title }) => title);
  const who = agents.length === 0 ? "your agents" : agents.slice(0, 3).join(", ");
  const address = await findGatewayAddress(context, options).then(
    ({ url }) => `${url}/`,
    () => "the dashboard",
  );
  const rows = [
    ["longhaul connect", `${who}: cheaper, and without an end of the window, from now on`],
    ["longhaul dashboard", `open ${address} in the browser`],
    [`longhaul recall ${quoteShellWord(question)}`, ""],
  ];
  const width = Math.max(...rows.slice(0, 2).map(([command = ""]) => command.length));
  return rows
    .map(([command = "", words = ""]) => `  ${command.padEnd(width)}   ${words}`.trimEnd())
    .join("\n")
    .concat("\n");
}

/** Conversations that are searched for a question, newest first, and messages of each. */
const SEARCHED_SESSIONS = 30;
const SEARCHED_MESSAGES = 200;
const QUESTION =
  /(?:^|[.!?\n]\s*)((?:what|why|how|where|which|when|who|did|does|is|are|should)\b[^?.!\n"'`$\\]{15,80}\?)/i;

/** A question that the person asked an agent, for a first search; a general one if there is none. */
async function findQuestion(kernel: Kernel, records: readonly SessionRecord[]): Promise<string> {
  const main = records.filter(({ relation }) => relation !== "child").slice(0, SEARCHED_SESSIONS);
  for (const { id } of main) {
    await using session = await kernel.session(id);
    const entries = await session.read({ from: 1, limit: SEARCHED_MESSAGES, kinds: ["message"] });
    for (const entry of entries) {
      if (entry.kind !== "message" || entry.message.role !== "user") continue;
      const question = QUESTION.exec(textOfMessage(entry.message).slice(0, 2_000))?.[1];
      if (question !== undefined) return escapeLine(question.replace(/\s+/g, " "));
    }
  }
  return "what did we decide about the database?";
}
