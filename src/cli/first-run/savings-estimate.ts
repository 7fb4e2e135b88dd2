import { loadConversation } from "../../conversation/load-conversation.ts";
import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Kernel, SessionId } from "../../index.ts";
import { POLICIES, type Policy, replay, type Totals } from "../../window-entry.ts";
import { listSessionIds } from "../find-session.ts";
import { chooseReplayProtocol } from "../replaying/replay-protocol.ts";
import { countRequests, findLastModelFacts, getTokenPrice } from "../replaying/token-price.ts";

/** The money that conversations have cost, and an estimate of their cost under the default policy. */
export interface SavingsEstimate {
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
export async function estimateSavings(
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
