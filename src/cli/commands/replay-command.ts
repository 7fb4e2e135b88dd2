import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { importSources } from "../../histories/index.ts";
import { loadConversation } from "../../kernel/calls/load-conversation.ts";
import {
  addTotals,
  genaiPrices,
  longhaul,
  type ModelFacts,
  modelFacts,
  NO_TOTALS,
  POLICIES,
  type Policy,
  PROTOCOL,
  type Protocol,
  SHRINK_FILTERS,
  type ShrinkFilter,
  type ShrinkOption,
  summarizingPolicy,
  type Totals,
} from "../../kernel/faces/window.ts";
import { type Kernel, openKernel, type SessionId } from "../../kernel/index.ts";
import {
  buildModelProtocol,
  chooseReplayProtocol,
  countRequests,
  findLastModelFacts,
  getTokenPrice,
} from "../../kernel/usage/replay-protocol.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { ESTIMATE_WINDOW } from "../../kernel/usage/savings-estimates.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { defineCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { findNamed } from "../find-named.ts";
import { findSession, listSessionIds } from "../find-session.ts";
import { openExistingStore } from "../open-store.ts";
import { parseCountOption } from "../parse-arguments.ts";
import { readQuestions } from "../replaying/read-questions.ts";
import {
  CacheStudy,
  type EvidenceCase,
  type EvidenceScore,
  ReplayStudy,
  renderCacheStudy,
  scoreEvidence,
} from "../replaying/replay-study.ts";
import type { ReplayTotals } from "../replaying/replay-totals.ts";
import { getSessionScope } from "../sessions/session-scope.ts";
import { formatCost } from "../spending/render-spending.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { toSafeJson } from "../terminal/escape.ts";
import { formatConversations, formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatDollars } from "../terminal/format-dollars.ts";
import { StatusLine } from "../terminal/phase-bar.ts";
import { printTo } from "../terminal/printer.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { parseTokensOption } from "../terminal/tokens.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { UsageError } from "../usage-error.ts";

const DEFAULT_WINDOWS = "32k,64k,128k,200k";
/** One window for many conversations, because each one takes as long again. */
const ALL_WINDOWS = `${ESTIMATE_WINDOW / 1_000}k`;
/** Maximum of the options that count conversations or questions. */
const MAX_COUNT = 1_000_000;
const PRICES = [{ name: "recorded" }, { name: "standard" }] as const;
const THINKING = [{ name: "bound" }, { name: "whole" }, { name: "free" }] as const;
const KNOWN_POLICIES: readonly Policy[] = [...POLICIES, summarizingPolicy()];

/** Replays recorded conversations under window policies. */
export const replayCommand = defineCommand({
  name: "replay",
  summary: "compare cost and retention of recorded conversations under each policy",
  usage: ["replay <session|path>… [options]", "replay --all [options]", "replay --questions DIR [options]"],
  about:
    "All figures are estimates. Cost is in input tokens, relative to an unlimited window, with the cache prices of the session's model if its provider reported a cache, with none if it reported none, and by the rules of Anthropic's prompt cache (reads 0.1, writes 1.25, five minutes) without reports. The column +refetch adds the cost of fetching lost content again, estimated from recorded behavior of agents. The column texts shows the share of the agent's edits whose old text was still in the window, paths the same for the files that its calls name, and ids and lines for the identifiers and lines of its next message. With --questions, evidence is the share of questions whose answer was in the window verbatim, and unpaged is the same without paging removed content back in. With --thinking, thinking is the share of the model's earlier thinking that it still had, turn the share of requests with all thinking of their running turn. If only --questions is given, the conversations of the questions are replayed.",
  options: {
    all: { type: "boolean", help: "replay all conversations in the store" },
    policy: {
      type: "string",
      multiple: true,
      value: "NAME",
      help: "only these policies, comma-separated",
    },
    window: {
      type: "string",
      value: "SIZES",
      help: `window sizes in tokens (default: ${DEFAULT_WINDOWS}; with --all ${ALL_WINDOWS})`,
    },
    "shrink-off": {
      type: "string",
      multiple: true,
      value: "NAME",
      help: `replay longhaul without these filters of tool results, comma-separated: all, ${SHRINK_FILTERS.join(", ")}`,
    },
    prices: {
      type: "string",
      value: "NAME",
      help: "recorded (default): the cache prices of each session's provider; standard: one set of prices for all sessions, for comparable figures; or a model, such as claude-fable-5-2, for the cost of the sessions with it",
    },
    min: { type: "string", value: "N", help: "skip conversations with fewer requests (default: 1)" },
    questions: {
      type: "string",
      value: "DIR",
      help: "ask these questions at the end of their conversations and search the window for the answers",
    },
    sample: { type: "string", value: "N", help: "ask only N of the questions, evenly chosen" },
    cache: {
      type: "boolean",
      help: "also replay longhaul with the real times under each way to keep the provider's cache",
    },
    thinking: {
      type: "string",
      value: "RULE",
      help: "also count the thinking that edits lose: bound (it is valid only behind an unchanged prefix, as for new Claude and GPT models), whole or free (it lives as long as it is sent)",
    },
    dump: {
      type: "string",
      value: "DIR",
      help: "write the window of every request to this folder, as JSON lines",
    },
    picture: {
      type: "string",
      value: "DIR",
      help: "write an SVG of the window size over time to this folder, for each conversation",
    },
  },
  maxOperands: Number.POSITIVE_INFINITY,
  examples: [
    "longhaul replay ticket-4711",
    "longhaul replay --all",
    "longhaul replay old-chats --policy longhaul,cline --window 64k --min 40",
    "longhaul replay ticket-4711 --policy longhaul --shrink-off tests,runs",
    "longhaul replay --all --policy longhaul --cache",
    "longhaul replay ticket-4711 --prices claude-fable-5-2 --thinking bound",
    "longhaul replay ticket-4711 --picture pictures --json",
    "longhaul replay --questions longmemeval-s --sample 30",
  ],
  async run(context, { operands, options }) {
    const least = parseCountOption("min", options.min, { otherwise: 1, max: MAX_COUNT });
    const sampled = parseCountOption("sample", options.sample, { otherwise: MAX_COUNT, max: MAX_COUNT });
    const windows = (options.window ?? (options.all ? ALL_WINDOWS : DEFAULT_WINDOWS))
      .split(",")
      .map((word) => parseTokensOption("window", word, 1));
    const asked =
      options.questions === undefined ? [] : readQuestions(resolve(context.cwd, options.questions));
    const questions = sampleOf(asked, sampled);
    if (operands.length === 0 && questions.length === 0 && !options.all)
      throw new UsageError("name a session, a file or folder of conversations, --all, or --questions");
    if (operands.length > 0 && options.all)
      throw new UsageError("--all cannot be combined with a session or a path");
    const names = options.policy?.flatMap((words) => words.split(",").map((word) => word.trim()));
    const priced = findPricedModel(options.prices);
    const prices = priced ? undefined : findNamed("prices", options.prices ?? "recorded", PRICES).name;
    const thinking =
      options.thinking === undefined ? undefined : findNamed("thinking", options.thinking, THINKING).name;
    const shrink = parseShrinkOption(options["shrink-off"] ?? []);
    const chosen =
      names?.map((name) => findNamed("policy", name, KNOWN_POLICIES)) ?? KNOWN_POLICIES.filter(isBounded);
    const policies = chosen.map((policy) => (policy.name === "longhaul" ? longhaul({ shrink }) : policy));
    const folders = {
      ...(options.dump !== undefined && { dump: resolve(context.cwd, options.dump) }),
      ...(options.picture !== undefined && { picture: resolve(context.cwd, options.picture) }),
    };
    const study = new ReplayStudy(policies, windows, folders, thinking);
    const caches = options.cache ? new CacheStudy(Math.max(...windows)) : undefined;
    const status = new StatusLine(context, options);
    let recorded = NO_TOTALS;
    let subAgents = 0;
    const replayOne = async (kernel: Kernel, id: SessionId, place = "") => {
      context.signal.throwIfAborted();
      const conversation = await loadConversation(kernel, id);
      if (countRequests(conversation) < least) return;
      status.update(() => `${place}${id}`);
      const facts = findLastModelFacts(kernel, conversation);
      const own = new UsageSums();
      await using session = await kernel.session(id);
      for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model)))
        own.add(usage);
      recorded = addTotals(recorded, own.total);
      if ((await session.record()).relation === "child") subAgents++;
      const tokenPrice = getTokenPrice(priced?.facts ?? facts);
      const protocol =
        priced?.protocol ?? (prices === "standard" ? PROTOCOL : chooseReplayProtocol(own.total, facts));
      caches?.replay(conversation, protocol);
      await study.replay(id, conversation, { protocol, ...dropUndefined({ tokenPrice }) });
    };
    for (const operand of operands) {
      const path = resolve(context.cwd, operand);
      await using kernel = existsSync(path)
        ? await openKernel({ path: ":memory:" })
        : await openExistingStore(context, options);
      const ids = existsSync(path)
        ? await importSessions(kernel, path, context.signal)
        : [await findSession(kernel, operand, getSessionScope(context, options))];
      for (const id of ids) await replayOne(kernel, id);
    }
    if (options.all) {
      await using kernel = await openExistingStore(context, options);
      const ids: SessionId[] = [];
      for await (const id of listSessionIds(kernel)) ids.push(id);
      for (const [index, id] of ids.entries())
        await replayOne(kernel, id, `${index + 1} of ${ids.length} conversations  `);
    }
    if (operands.length === 0 && !options.all)
      for (const one of questions)
        await study.replay(one.id, one.conversation, priced && { protocol: priced.protocol });
    const evidence = await scoreEvidence(questions, listEvidenceCases(policies, windows), (done) => {
      context.signal.throwIfAborted();
      status.update(() => `question ${done + 1} of ${questions.length}`);
    });
    status.clear();
    const totals = addEvidence(study.totals(), evidence);
    const look = { paint: choosePaint(context, options), width: context.columns.stdout };
    const kept = caches?.totals();
    const text = options.json
      ? `${toSafeJson({ replays: totals, recorded, caches: kept })}\n`
      : renderReplayTable(totals, recorded, subAgents, look) +
        (kept
          ? renderCacheStudy(kept, look)
              .map((line) => `${line}\n`)
              .join("")
          : "");
    await printTo(context.stdout, text);
    return EXIT.fine;
  },
});

/** The model whose prices were asked for; undefined for an option that names none, or no model with known prices. */
function findPricedModel(id: string | undefined): { facts: ModelFacts; protocol: Protocol } | undefined {
  if (id === undefined || PRICES.some(({ name }) => name === id)) return undefined;
  const facts = modelFacts(id, { catalogue: genaiPrices() });
  const protocol = buildModelProtocol(facts);
  return protocol && { facts, protocol };
}

async function importSessions(
  kernel: Kernel,
  path: string,
  signal: AbortSignal,
): Promise<readonly SessionId[]> {
  const { sources } = await importSources(kernel, [path], { signal });
  return [...new Set(sources.filter(({ status }) => status !== "failed").map(({ session }) => session))];
}

function isBounded({ name }: Policy): boolean {
  return name !== "none";
}

const FIGURE_TITLES = [
  ...["window", "cost", "+refetch", "texts", "paths", "ids", "lines"],
  ...["sent", "peak", "edits/100", "dearest"],
];
const THINKING_TITLES = ["thinking", "turn"];
const EVIDENCE_TITLES = ["evidence", "unpaged"];

/** Formats replay totals as a table; evidence columns appear only if questions were asked. */
function renderReplayTable(
  totals: readonly TotalsWithEvidence[],
  recorded: Totals,
  subAgents: number,
  look: Parameters<typeof renderTable>[2],
): string {
  const [first] = totals;
  if (!first) return "No conversation has enough requests.\n";
  const hasEvidence = totals.some(({ evidence }) => evidence !== undefined);
  const hasThinking = totals.some(({ thinkingAlive }) => thinkingAlive !== undefined);
  const hasDollars = totals.some(({ unboundedDollars }) => unboundedDollars > 0);
  const [windowTitle = "", ...figures] = FIGURE_TITLES;
  const titles = [
    windowTitle,
    ...(hasDollars ? ["dollars"] : []),
    ...figures,
    ...(hasThinking ? THINKING_TITLES : []),
    ...(hasEvidence ? EVIDENCE_TITLES : []),
  ];
  const cheapest = findCheapest(totals);
  const columns: readonly Column[] = [
    { title: "policy" },
    ...titles.map((title) => ({ title, align: "right" as const })),
  ];
  const rows = totals.map((one) => [
    `${one.policy}${cheapest.has(one) ? " ✓" : ""}`,
    `${one.window / 1_000}k`,
    ...(hasDollars ? [formatDollars(one.dollars)] : []),
    one.costShare.toFixed(3),
    one.fullCostShare.toFixed(3),
    ...[one.editTexts, one.paths, one.identifiers, one.lines].map(formatPercent),
    `${formatCount(Math.round(one.sentTokens / 1_000))}k`,
    `${(one.peakTokens / 1_000).toFixed(1)}k`,
    ((100 * one.edits) / Math.max(1, one.requests)).toFixed(1),
    one.dearest.toFixed(2),
    ...(hasThinking ? [formatPercent(one.thinkingAlive), formatPercent(one.turnWhole)] : []),
    ...(hasEvidence ? [formatPercent(one.evidence), formatPercent(one.unpaged)] : []),
  ]);
  const head = `${formatConversations(first.sessions - subAgents, subAgents)}, ${formatQuantity(first.requests, "request")}; cost relative to an unlimited window`;
  const verdict = [describeCheapest(totals), ...describeRecorded(recorded)].flatMap((text) =>
    wrapText(text, look.width),
  );
  return `${[head, "", ...renderTable(columns, rows, look), "", ...verdict].join("\n")}\n`;
}

/** The cheapest policy of each window; empty if there is nothing to compare. */
function findCheapest(totals: readonly TotalsWithEvidence[]): ReadonlySet<TotalsWithEvidence> {
  const byWindow = [...Map.groupBy(totals, ({ window }) => window).values()];
  return new Set(
    byWindow.flatMap((rows) =>
      rows.length < 2 ? [] : [rows.reduce((best, one) => (one.cost < best.cost ? one : best))],
    ),
  );
}

/** Says in one sentence which policy costs least in the largest window, and how much of the references it keeps. */
function describeCheapest(totals: readonly TotalsWithEvidence[]): string {
  const largest = Math.max(...totals.map(({ window }) => window));
  const rows = totals.filter(({ window }) => window === largest);
  const best = rows.reduce((one, other) => (other.cost < one.cost ? other : one));
  const { policy, dollars, unboundedDollars, costShare, identifiers, unpricedSessions } = best;
  const saved = `${Math.abs(Math.round(100 * (1 - costShare)))}% ${costShare <= 1 ? "less" : "more"}`;
  // Dollars and shares are of different conversations if some have no price.
  const others = unpricedSessions > 0 ? " for those with a known price, and in tokens " : ", ";
  const money =
    unboundedDollars > 0
      ? `${formatDollars(dollars)} instead of ${formatDollars(unboundedDollars)}${others}`
      : "";
  const lead = rows.length > 1 ? `${policy} costs least` : `${policy} costs`;
  const unpriced =
    unpricedSessions > 0 && unboundedDollars > 0
      ? ` Dollars exclude ${formatQuantity(unpricedSessions, "conversation")} without a known price.`
      : "";
  const refetched = `${Math.abs(Math.round(100 * (1 - best.fullCostShare)))}% ${best.fullCostShare <= 1 ? "less" : "more"}`;
  return `In a window of ${largest / 1_000}k, ${lead}: ${money}${saved} than an unlimited window (${refetched} including the cost of fetching lost content again), with ${Number((100 * identifiers).toFixed(1))}% of the names that the agent used next still there.${unpriced}`;
}

/** The reported usage of the replayed conversations, to compare the estimates with. */
function describeRecorded(recorded: Totals): readonly string[] {
  if (recorded.requests === 0) return [];
  return [
    `Measured: providers reported ${formatQuantity(recorded.requests, "request")} for these conversations, ${formatCost(recorded)}. All other figures are estimated.`,
  ];
}

function formatPercent(share: number | undefined): string {
  return share === undefined ? "–" : `${(100 * share).toFixed(1)}%`;
}

/** The filters that --shrink-off leaves on; throws a usage error for a name that does not exist. */
export function parseShrinkOption(given: readonly string[]): ShrinkOption {
  const names = given.flatMap((words) => words.split(",").map((word) => word.trim()));
  for (const name of names)
    if (name !== "all" && !SHRINK_FILTERS.includes(name as ShrinkFilter))
      throw new UsageError(`--shrink-off ${name}: expected all, or filters of ${SHRINK_FILTERS.join(", ")}`);
  if (names.includes("all")) return false;
  return Object.fromEntries(names.map((name) => [name, false]));
}

/** Replay totals with the share of questions whose whole evidence was in the window. */
interface TotalsWithEvidence extends ReplayTotals {
  readonly evidence?: number;
  /** The same share without paging. */
  readonly unpaged?: number;
}

/**
 * Lists the settings to score: every policy without paging, and the default policy also with it. The other policies
 * come from systems that do not page.
 */
function listEvidenceCases(policies: readonly Policy[], windows: readonly number[]): readonly EvidenceCase[] {
  const known = policies.filter(({ name }) => POLICIES.some((policy) => policy.name === name));
  return known.flatMap(({ name: policy }) =>
    windows.flatMap((window) =>
      (policy === "longhaul" ? [true, false] : [false]).map((isPaging) => ({ policy, window, isPaging })),
    ),
  );
}

/** Adds the evidence shares to replay totals. */
function addEvidence(
  totals: readonly ReplayTotals[],
  evidence: readonly EvidenceScore[],
): readonly TotalsWithEvidence[] {
  return totals.map((total) => {
    const shareOf = (isPaging: boolean) => {
      const found = evidence.find(
        (score) =>
          score.policy === total.policy && score.window === total.window && score.isPaging === isPaging,
      );
      return found && found.questions > 0 ? found.whole / found.questions : undefined;
    };
    const [paged, unpaged] = [shareOf(true), shareOf(false)];
    const whole = paged ?? unpaged;
    return { ...total, ...dropUndefined({ evidence: whole, unpaged }) };
  });
}

/** Chooses up to `count` elements, spread evenly over all of them. */
export function sampleOf<T>(all: readonly T[], count: number): readonly T[] {
  if (count >= all.length) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as T);
}
