import { type AgentShape, hasSameLead } from "./agent-shape.ts";
import type { KeyedMessages } from "./align-request.ts";
import type { ThreadCandidate } from "./choose-thread.ts";
import { compareToThreads, type Likeness } from "./likeness.ts";
import type { KnownConversation } from "./request-facts.ts";

/** A request that repeats fewer messages could belong to any conversation. */
const MIN_REPEATED = 2;

/**
 * The known conversation that shares the most messages with a request; undefined if none shares enough. `likenesses` are
 * those of the candidates, in their order.
 */
export function findKnownConversation(
  candidates: readonly ThreadCandidate[],
  { shape }: { readonly shape: AgentShape },
  request: KeyedMessages,
  likenesses: readonly Likeness[] = compareToThreads(candidates, request),
): KnownConversation | undefined {
  let best: ThreadCandidate | undefined;
  let most = MIN_REPEATED - 1;
  for (const [index, thread] of candidates.entries()) {
    if (thread.kind !== "main" && thread.kind !== "agent") continue;
    const { prefix, same } = likenesses[index] as Likeness;
    const repeated = Math.max(prefix, same);
    if (repeated <= most) continue;
    best = thread;
    most = repeated;
  }
  if (!best) return undefined;
  const { shape: own } = best;
  return { hasTools: own.tools.length > 0, hasSameLead: hasSameLead(own, shape) };
}
