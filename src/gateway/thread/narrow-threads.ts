import type { Thread } from "./thread.ts";
import type { ThreadLookup } from "./thread-lookup.ts";

/**
 * The threads that a request is compared with. If exactly one of them consists of all messages up to the last reply of
 * the request, no thread without that reply in its place can fit better. People begin many conversations with the same
 * words, and comparing each request with all of them takes long.
 */
export function narrowThreads(threads: readonly Thread[], request: ThreadLookup): readonly Thread[] {
  const { keys, roles, caller, firstKey } = request;
  const known = roles.lastIndexOf("assistant") + 1;
  // A trailing assistant message is a prefill by the client, not a known reply.
  if (threads.length < 2 || known < 2 || known === keys.length) return threads;
  let next: Thread | undefined;
  const others: Thread[] = [];
  for (const thread of threads) {
    const line = thread.conversation.peekLine();
    const hasReply = line?.keys[known - 1] === keys[known - 1];
    if (line && !hasReply && line.keys.length > 0) continue;
    // Without an id, the same opening stands for the first message, even if the client has changed that.
    const from = caller.explicit === undefined && thread.meta.firstKey === firstKey ? 1 : 0;
    const isNext =
      line?.keys.length === known && isFree(thread, request) && containsLine(keys, line.keys, from);
    if (isNext && !next) next = thread;
    else others.push(thread);
  }
  const hasTwin = others.some((thread) => thread.conversation.peekLine()?.keys.length === known);
  return next && !hasTwin ? threads.filter((thread) => thread === next || others.includes(thread)) : threads;
}

/** True if a request can continue the thread now. */
function isFree({ kind, inFlight, meta }: Thread, { caller }: ThreadLookup): boolean {
  return inFlight === 0 && (kind === "main" || kind === "agent") && meta.agent === caller.agent;
}

/** True if a request contains all messages of a line from a place on. */
function containsLine(request: readonly string[], line: readonly string[], from: number): boolean {
  return line.every((key, place) => place < from || key === request[place]);
}
