import type { KeyedMessages } from "../identity/align-request.ts";
import type { Thread } from "./thread.ts";

/** A request, as far as it decides which threads it is compared with. */
interface NarrowingRequest extends KeyedMessages {
  /** The sub-agent that sends it. */
  readonly agent: string | undefined;
  /** The key that stands for the first messages of conversations without an id; undefined for those with one. */
  readonly firstKey: string | undefined;
}

/**
 * The threads that a request is compared with. If exactly one of them consists of all messages up to the last reply of
 * the request, no thread without that reply in its place can fit better. People begin many conversations with the same
 * words, and comparing each request with all of them takes long.
 */
export function narrowThreads(threads: readonly Thread[], request: NarrowingRequest): readonly Thread[] {
  const { keys, roles } = request;
  const known = roles.lastIndexOf("assistant") + 1;
  // A trailing assistant message is a prefill by the client, not a known reply.
  if (threads.length < 2 || known < 2 || known === keys.length) return threads;
  let next: Thread | undefined;
  const others: Thread[] = [];
  for (const thread of threads) {
    const line = thread.conversation.peekLine();
    const hasReply = line?.keys[known - 1] === keys[known - 1];
    if (line && !hasReply && line.keys.length > 0) continue;
    const from = thread.meta.firstKey === request.firstKey ? 1 : 0;
    const isNext =
      line?.keys.length === known && isFree(thread, request) && containsLine(keys, line.keys, from);
    if (isNext && !next) next = thread;
    else others.push(thread);
  }
  const hasTwin = others.some((thread) => thread.conversation.peekLine()?.keys.length === known);
  return next && !hasTwin ? threads.filter((thread) => thread === next || others.includes(thread)) : threads;
}

/** True if a request can continue the thread now. */
function isFree({ kind, inFlight, meta }: Thread, { agent }: NarrowingRequest): boolean {
  return inFlight === 0 && (kind === "main" || kind === "agent") && meta.agent === agent;
}

/** True if a request contains all messages of a line from a place on. */
function containsLine(request: readonly string[], line: readonly string[], from: number): boolean {
  return line.every((key, place) => place < from || key === request[place]);
}
