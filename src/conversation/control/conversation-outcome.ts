import { type Kernel, type Session, type SessionId, textOfMessage } from "../../index.ts";
import { RereadCounter } from "../../window-entry.ts";
import { readRequestUsage } from "../spending/request-usage.ts";
import { isCorrection } from "./is-correction.ts";
import { readOverflows } from "./overflow-count.ts";

/** Figures of a conversation that edits may change. */
export interface ConversationOutcome {
  /** All tokens that the provider counted: prompt, cached or not, and output. */
  readonly tokens: number;
  /** US dollars, including the cost of edits: cache writes and summaries. */
  readonly cost: number;
  /** Requests. */
  readonly steps: number;
  /** Reads of files that the agent had read before and not changed since. */
  readonly rereads: number;
  /** Overflow errors that the client got. */
  readonly overflows: number;
  /** User messages that reject the work before them. */
  readonly corrections: number;
}

/** A measured conversation. */
export interface MeasuredConversation extends ConversationOutcome {
  /** The model of most requests; undefined if none was reported. */
  readonly model: string | undefined;
  /** Requests without a known price; `cost` excludes them. */
  readonly unpricedRequests: number;
}

const PAGE_ENTRIES = 500;

/** Measures a conversation with its secondary conversations. */
export async function measureConversation(
  kernel: Kernel,
  ids: readonly SessionId[],
  signal?: AbortSignal,
): Promise<MeasuredConversation> {
  const sums = {
    tokens: 0,
    cost: 0,
    steps: 0,
    rereads: 0,
    overflows: 0,
    corrections: 0,
    unpricedRequests: 0,
  };
  const models = new Map<string, number>();
  for (const id of ids) {
    signal?.throwIfAborted();
    await using session = await kernel.session(id);
    for await (const { model, totals } of readRequestUsage(session, (name) => kernel.modelFacts(name))) {
      const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = totals;
      sums.tokens += inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens;
      sums.cost += totals.cost;
      sums.steps += totals.requests;
      sums.unpricedRequests += totals.unpricedRequests;
      if (model !== undefined) models.set(model, (models.get(model) ?? 0) + 1);
    }
    const { rereads, corrections } = await countInMessages(session);
    sums.rereads += rereads;
    sums.corrections += corrections;
    sums.overflows += await readOverflows(session);
  }
  const [most] = [...models].sort(([, one], [, other]) => other - one);
  return { ...sums, model: most?.[0] };
}

async function countInMessages(
  session: Session,
): Promise<Pick<ConversationOutcome, "rereads" | "corrections">> {
  const counter = new RereadCounter();
  let corrections = 0;
  let hasReplied = false;
  for (let from = 1; ; ) {
    const entries = await session.read({ from, limit: PAGE_ENTRIES, kinds: ["message"] });
    for (const entry of entries) {
      if (entry.kind !== "message") continue;
      const { message } = entry;
      counter.observe(message);
      if (message.role === "assistant") hasReplied = true;
      else if (message.role === "user" && hasReplied && isCorrection(textOfMessage(message))) corrections++;
    }
    const last = entries.at(-1);
    if (!last || entries.length < PAGE_ENTRIES) return { rereads: counter.count, corrections };
    from = last.seq + 1;
  }
}
