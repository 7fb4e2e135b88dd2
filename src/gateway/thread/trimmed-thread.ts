import type { Kernel } from "../../index.ts";
import { type AgentShape, isSameShape } from "../identity/agent-shape.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import { compareToThread } from "../identity/likeness.ts";
import { isOwnSession, type PersonIds } from "../identity/person-ids.ts";
import { endsWithReply } from "./stored-threads.ts";
import type { Thread } from "./thread.ts";
import { parseThreadMeta } from "./thread-meta.ts";

/** A request that may continue a conversation without containing its beginning. */
interface TrimmedRequest extends KeyedMessages {
  readonly shape: AgentShape;
}

/** Maximum number of conversations with the same ending to compare. */
const MAX_COMPARED = 32;
/** Maximum number of stored sessions to inspect, latest first. */
const MAX_STORED = 100;

/** The key of the last reply in a request. */
export function getLastReplyKey({ keys, roles }: KeyedMessages): string | undefined {
  return keys[roles.lastIndexOf("assistant")];
}

/** The conversation whose end a request contains, among threads sorted by last use. */
export async function findTrimmedThread(
  threads: readonly Thread[],
  request: TrimmedRequest,
): Promise<Thread | undefined> {
  const reply = getLastReplyKey(request);
  const ending = threads.filter(
    (thread) =>
      reply !== undefined && thread.hasReplied(reply) && isSameShape(thread.meta.shape, request.shape),
  );
  let best: { readonly thread: Thread; readonly same: number } | undefined;
  for (const thread of ending.slice(0, MAX_COMPARED)) {
    const { isNext, isAnotherEnd, same } = compareToThread(
      await thread.describeCandidate({ explicit: undefined, opening: undefined, request }),
      request,
    );
    if ((isNext || isAnotherEnd) && same > (best?.same ?? 0)) best = { thread, same };
  }
  return best?.thread;
}

/** First keys of a principal's stored conversations, without ids, whose end a request may contain. */
export async function listStoredOpenings(
  kernel: Kernel,
  principal: PersonIds,
  request: TrimmedRequest,
): Promise<readonly string[]> {
  const reply = getLastReplyKey(request);
  const openings = new Set<string>();
  for (const { id, meta } of await kernel.sessions({ limit: MAX_STORED })) {
    const mark = parseThreadMeta(meta);
    const isOwn = mark?.kind === "main" && isOwnSession(principal, id);
    // Sessions with explicit ids are named after them and found by them.
    if (!isOwn || !id.includes(`:${mark.firstKey.slice(0, 16)}`)) continue;
    if (!isSameShape(mark.shape, request.shape)) continue;
    if (reply !== undefined && (await endsWithReply(kernel, id, reply))) openings.add(mark.firstKey);
  }
  return [...openings];
}
