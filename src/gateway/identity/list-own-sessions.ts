import type { Kernel, SessionId, SessionRecord } from "../../index.ts";

/** A page of sessions. */
interface SessionPage {
  readonly limit: number;
  /** The last session of the page before. */
  readonly before?: SessionId;
}

/**
 * Sessions whose ids begin with one of the prefixes, newest first; a person has several prefixes only in a store of an
 * earlier version. Undefined stands for all sessions.
 */
export async function listOwnSessions(
  kernel: Pick<Kernel, "sessions">,
  prefixes: readonly string[] | undefined,
  page: SessionPage,
): Promise<readonly SessionRecord[]> {
  if (!prefixes) return kernel.sessions(page);
  const lists = await Promise.all(prefixes.map((prefix) => kernel.sessions({ ...page, prefix })));
  return lists
    .flat()
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .slice(0, page.limit);
}
