import { hash } from "node:crypto";
import type { RequestEnd } from "../../log-entry.ts";
import { traceReply } from "../call/trace-call.ts";
import { isClientGone } from "../door/client-signal.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { FaultError } from "../fault-error.ts";
import { getLoopFamily } from "../loops/loop-family.ts";
import { toWallClock } from "../loops/wall-clock.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";

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

/** Stores in the conversation why a request ended, if its reply is not whole. */
export async function noteEnd(exchange: Exchange): Promise<void> {
  const { services, thread } = exchange;
  await thread.conversation.noteEnd(findRequestEnd(exchange)).catch(services.onStoreFailure);
}

function findRequestEnd({ call, failure, incoming, reply, trace }: Exchange): RequestEnd | undefined {
  const { isComplete = false, hasBegun = false, failure: refusal } = reply?.recorder.reader ?? {};
  const told = failure ?? refusal;
  if (isComplete && !told) return undefined;
  const { reason } = incoming.signal;
  const retries = call.healed > 0 ? { retries: call.healed } : {};
  if (trace.ending === "client-stalled")
    return { by: "client", failure: "The client accepted no more bytes.", ...retries };
  // After a failure of the upstream, the gateway itself closes the client's connection.
  if (reason instanceof Error && !trace.ending?.startsWith("upstream-"))
    return { by: isClientGone(reason) ? "client" : "longhaul", failure: reason.message, ...retries };
  const isRefused = (trace.status ?? 0) >= 400;
  // The reply may be in a form that only the client knows.
  if (!told && !isRefused && !hasBegun && trace.ending === "complete") return undefined;
  const status = isRefused ? ` (status ${trace.status})` : "";
  const words = told?.message ?? "The reply ended before it was whole.";
  return { by: told ? findEnder(told) : "provider", failure: `${words}${status}`, ...retries };
}

/** Limits of time are longhaul's own, as are errors that come from no connection. */
function findEnder(failure: NonNullable<Exchange["failure"]>): RequestEnd["by"] {
  const cause = failure instanceof FaultError ? failure.cause : failure;
  if (cause instanceof UpstreamError)
    return /^(?:timeout|idle)$/.test(cause.reason) ? "longhaul" : "provider";
  return failure instanceof Error ? "longhaul" : "provider";
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
