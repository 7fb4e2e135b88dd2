import type { Entry, Hit, Kernel, SessionId } from "../../kernel/index.ts";

/** Number of newest messages in which the call of the running conversation must stand. */
const TAIL_MESSAGES = 8;
/** The call was logged a moment ago. */
const MAX_AGE_MS = 15 * 60_000;

/**
 * Finds the conversation that asks among the sessions of some hits. Clients do not name it, but where it is logged as it
 * runs, its newest messages contain the very call that is being answered.
 */
export async function findRunningConversation(
  kernel: Pick<Kernel, "memory">,
  hits: readonly Hit[],
  query: string,
): Promise<SessionId | undefined> {
  const sessions = new Set(hits.flatMap((hit) => (hit.kind === "session" ? [hit.session] : [])));
  const since = Date.now() - MAX_AGE_MS;
  for (const session of sessions) {
    const newest = await kernel.memory.readNewest(session, { limit: TAIL_MESSAGES, since });
    if (newest.some((entry) => hasRecallCall(entry, query))) return session;
  }
  return undefined;
}

function hasRecallCall(entry: Entry, query: string): boolean {
  if (entry.kind !== "message" || entry.message.role !== "assistant") return false;
  return entry.message.parts.some((part) => {
    if (part.type !== "tool-call" || !part.name.endsWith("recall")) return false;
    const { input } = part;
    return typeof input === "object" && input !== null && "query" in input && input.query === query;
  });
}
