import { type AgentShape, hasSameLead } from "./agent-shape.ts";
import type { KeyedMessages } from "./align-request.ts";
import type { ThreadCandidate } from "./choose-thread.ts";
import { compareToThread } from "./likeness.ts";
import type { KnownConversation } from "./request-facts.ts";

/** A request that repeats fewer messages could belong to any conversation. */
const MIN_REPEATED = 2;

/** The known conversation that shares the most messages with a request; undefined if none shares enough. */
export function findKnownConversation(
  candidates: readonly ThreadCandidate[],
  { shape }: { readonly shape: AgentShape },
  request: KeyedMessages,
): KnownConversation | undefined {
  let best: { readonly thread: ThreadCandidate; readonly same: number } | undefined;
  for (const thread of candidates) {
    if (thread.kind !== "main" && thread.kind !== "agent") continue;
    const { prefix, same } = compareToThread(thread, request);
    const repeated = Math.max(prefix, same);
    if (repeated >= MIN_REPEATED && repeated > (best?.same ?? 0)) best = { thread, same: repeated };
  }
  if (!best) return undefined;
  const { shape: own } = best.thread;
  return { hasTools: own.tools.length > 0, hasSameLead: hasSameLead(own, shape) };
}
