import { hash } from "node:crypto";
import { traceReply } from "../call/trace-call.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { getLoopFamily } from "../loops/loop-family.ts";
import { toWallClock } from "../loops/wall-clock.ts";

/** Records the end of an exchange: the sent pieces for the next request, and the reply for the trace and the breaker. */
export function recordReply(exchange: Exchange): void {
  const { call, keptBody, recall, reply, services, thread, trace } = exchange;
  if (keptBody && call.pieces) keptBody.memo.sentPieces = call.pieces;
  if (keptBody)
    keptBody.memo.additions = {
      hasMemories: call.request.memories !== undefined,
      hasTools: recall?.hasTools ?? false,
      isControl: call.request.isControl === true,
    };
  if (!reply) return;
  const { reader, completedMs = performance.now() } = reply.recorder;
  traceReply(trace, reader, call, (model) => services.kernel.modelFacts(model));
  if (!reader.isComplete) return;
  if (thread.kind === "main") services.loops.recordSuccess(getLoopFamily(thread.session.id));
  countForLoops(exchange, completedMs);
}

/** Counts a completely answered request, if it can be part of a loop. */
export function countForLoops({ call, services, thread, trace }: Exchange, completedMs: number): void {
  const { chain, messages } = call.request;
  const { list } = messages;
  // A single question that is often repeated, outside a conversation, is sampled for several replies.
  const isConversation = chain !== undefined || list.some(({ role }) => role === "assistant");
  if (!isConversation && thread.threadKey.explicit === undefined) return;
  // The same messages after a different reply are a different request.
  const afterEntry = chain ? (chain.afterEntry ?? call.last) : "";
  // A digest, because a concatenated string would keep its pieces alive.
  const key = hash("sha1", `${list.length} ${list.at(-1)?.key} ${list.at(-2)?.key} ${afterEntry}`);
  services.loops.recordReply(thread.session.id, {
    key,
    requestedAt: toWallClock(trace.startedMs),
    repliedAt: toWallClock(completedMs),
  });
}
