import type { Said } from "./align-request.ts";
import type { Candidate } from "./choose-thread.ts";
import { likenessOf } from "./likeness.ts";
import type { KnownConversation } from "./request-facts.ts";
import { hasSameLead, type Shape } from "./shape.ts";

/** A request that repeats fewer messages could belong to any conversation. */
const MIN_REPEATED = 2;

/** The known conversation that shares the most messages with a request; undefined if none shares enough. */
export function knownConversation(
  candidates: readonly Candidate[],
  { shape }: { readonly shape: Shape },
  said: Said,
): KnownConversation | undefined {
  let best: { readonly thread: Candidate; readonly same: number } | undefined;
  for (const thread of candidates) {
    if (thread.kind !== "main" && thread.kind !== "agent") continue;
    const { prefix, same } = likenessOf(thread, said);
    const repeated = Math.max(prefix, same);
    if (repeated >= MIN_REPEATED && repeated > (best?.same ?? 0)) best = { thread, same: repeated };
  }
  if (!best) return undefined;
  const { shape: own } = best.thread;
  return { hasTools: own.tools.length > 0, hasSameLead: hasSameLead(own, shape) };
}
