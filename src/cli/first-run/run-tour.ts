import { loadConversation } from "../../conversation/load-conversation.ts";
import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Kernel, SessionId } from "../../index.ts";
import { POLICIES, type Policy, replay, type Totals } from "../../window-entry.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { listSessionIds } from "../find-session.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { formatDollars } from "../format-dollars.ts";
import { examineLocalHistories } from "../histories/examine-local-histories.ts";
import { describeThreatened } from "../histories/render-histories.ts";
import { choosePlaces } from "../importing/choose-places.ts";
import { importOnce } from "../importing/import-once.ts";
import { openExistingStore } from "../open-store.ts";
import { PhaseBar } from "../phase-bar.ts";
import { printTo } from "../printer.ts";
import {
  chooseReplayProtocol,
  countRequests,
  findLastModelFacts,
  getTokenPrice,
} from "../replaying/replay-protocol.ts";
import { formatCost } from "../spending/render-spending.ts";
import { wrapText } from "../wrap-text.ts";

const MAX_REPLAY_MS = 20_000;
const WELCOME = "longhaul remembers the conversations of your agents. It found these on this computer:";
const NEXT = `Next:
  longhaul recall "what did we decide about …?"   search all of them
  longhaul sessions                               list them
  longhaul service install                        keep all that follow, before agents delete them
  longhaul serve                                  run the gateway: endless context for any agent
  longhaul help                                   everything else
`;

/** Finds histories on this computer, asks, imports and indexes them, and prints their cost. */
export async function runTour(
  context: CliContext,
  options: CommonValues,
  { isServing = false }: { readonly isServing?: boolean } = {},
): Promise<number> {
  const { stdout, signal } = context;
  await printTo(stdout, `${WELCOME}\n\n`);
  const threatened = describeThreatened(await examineLocalHistories(context, undefined));
  if (threatened !== undefined) {
    const words = `${threatened} yet; importing keeps them.`;
    await printTo(stdout, `${wrapText(words, context.columns.stdout).join("\n")}\n\n`);
  }
  const paths = await choosePlaces(context, options, { signal }, false);
  let exitCode: number = EXIT.fine;
  if (paths.length > 0 && !signal.aborted) {
    exitCode = await importOnce(context, options, paths, { signal, isIndexed: true });
    if (signal.aborted) return exitCode;
    const savings = describeSavings(await measureSavings(context, options));
    await printTo(stdout, `\n${wrapText(savings, context.columns.stdout).join("\n")}\n`);
  }
  if (!isServing && !signal.aborted) await printTo(stdout, `\n${NEXT}`);
  return exitCode;
}

async function measureSavings(context: CliContext, options: CommonValues): Promise<SavingsEstimate> {
  const bar = new PhaseBar(context, options, [{ name: "comparing costs", weight: 1 }]);
  await using kernel = await openExistingStore(context, options);
  try {
    return await estimateSavings(kernel, MAX_REPLAY_MS, {
      signal: context.signal,
      onProgress: (share) => bar.update("comparing costs", share),
    });
  } finally {
    bar.clear();
  }
}

/** Formats the reported cost and the estimate as one sentence. */
function describeSavings({ totals, estimate, replayed, sessions }: SavingsEstimate): string {
  if (totals.requests === 0) return "These conversations report no usage.";
  const paid = `${formatQuantity(totals.requests, "request")}, ${formatCost(totals)}`;
  if (estimate === undefined) return `${paid}.`;
  const basis =
    replayed < sessions
      ? ` (from ${formatCount(replayed)} of ${formatCount(sessions)} conversations, evenly chosen)`
      : "";
  return `${paid}; under longhaul's policy an estimated ${formatDollars(Math.max(0, estimate))}${basis}.`;
}

/** The money that conversations have cost, and an estimate of their cost under the default policy. */
interface SavingsEstimate {
  readonly totals: Totals;
  /** US dollars; undefined if no conversation could be replayed. */
  readonly estimate?: number;
  /** Conversations that were replayed, and all that have usage. */
  readonly replayed: number;
  readonly sessions: number;
}

const DEFAULT_WINDOW = 200_000;

/**
 * Sums the reported usage and replays conversations for at most `maxMs`, spread evenly over all of them. The replay
 * tells which share of the input cost the default policy saves; output stays as it was.
 */
async function estimateSavings(
  kernel: Kernel,
  maxMs: number,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
): Promise<SavingsEstimate> {
  const sums = new UsageSums();
  const ids: SessionId[] = [];
  let inputCost = 0;
  for await (const id of listSessionIds(kernel)) {
    signal.throwIfAborted();
    await using session = await kernel.session(id);
    let requests = 0;
    for await (const spent of readRequestUsage(session, (model) => kernel.modelFacts(model))) {
      sums.add(spent);
      requests++;
      const facts = spent.model === undefined ? undefined : kernel.modelFacts(spent.model);
      const output = (spent.totals.outputTokens * (facts?.prices.output ?? 0)) / 1_000_000;
      inputCost += Math.max(0, spent.totals.cost - output);
    }
    if (requests > 0) ids.push(id);
  }
  const startedMs = performance.now();
  let replayed = 0;
  let cost = 0;
  let unboundedCost = 0;
  for (const id of spread(ids)) {
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > maxMs) break;
    signal.throwIfAborted();
    onProgress(Math.max(replayed / ids.length, elapsedMs / maxMs));
    const score = await replaySession(kernel, id);
    replayed++;
    cost += score?.cost ?? 0;
    unboundedCost += score?.unboundedCost ?? 0;
  }
  return {
    totals: sums.total,
    ...(unboundedCost > 0 && { estimate: sums.total.cost - inputCost * (1 - cost / unboundedCost) }),
    replayed,
    sessions: ids.length,
  };
}

/** Orders elements so that every beginning of the result is spread evenly over all of them. */
function spread<T>(all: readonly T[]): readonly T[] {
  const bits = Math.ceil(Math.log2(Math.max(1, all.length)));
  const reverse = (index: number) =>
    Number.parseInt(index.toString(2).padStart(bits, "0").split("").reverse().join(""), 2);
  return Array.from({ length: 2 ** bits }, (_, index) => all[reverse(index)]).filter(
    (one) => one !== undefined,
  );
}

async function replaySession(
  kernel: Kernel,
  id: SessionId,
): Promise<{ readonly cost: number; readonly unboundedCost: number } | undefined> {
  const conversation = await loadConversation(kernel, id);
  const facts = findLastModelFacts(kernel, conversation);
  const price = getTokenPrice(facts);
  if (price === undefined || countRequests(conversation) === 0) return undefined;
  await using session = await kernel.session(id);
  const own = new UsageSums();
  for await (const usage of readRequestUsage(session, (model) => kernel.modelFacts(model))) own.add(usage);
  const protocol = chooseReplayProtocol(own.total, facts);
  const { model } = await session.lastCall();
  const window = (model === undefined ? undefined : kernel.modelFacts(model).window) ?? DEFAULT_WINDOW;
  const unbounded = replay(conversation, findPolicy("none"), Number.POSITIVE_INFINITY, { protocol });
  const bounded = replay(conversation, findPolicy("longhaul"), window, { protocol });
  return { cost: bounded.cost * price, unboundedCost: unbounded.cost * price };
}

function findPolicy(name: string): Policy {
  return POLICIES.find((policy) => policy.name === name) as Policy;
}
