import { type Kernel, LonghaulError, type SessionId, type SessionRecord } from "../index.ts";
import { findId } from "./find-id.ts";
import { findListed } from "./sessions/session-listing.ts";
import type { SessionScope } from "./sessions/session-scope.ts";

const PAGE = 1_000;
const LISTING = "longhaul sessions";

/**
 * Finds a session by its id, by its number in the last listing, as "last", or by the only id that begins or ends with
 * the text or has a piece that begins with it. Throws SESSION_NOT_FOUND with the nearest ids, or ARGUMENT_INVALID with
 * the matching ids if there are several.
 */
export async function findSession(kernel: Kernel, wanted: string, scope: SessionScope): Promise<SessionId> {
  const { prefix } = scope;
  for (const id of prefix === "" ? [wanted] : [wanted, `${prefix}${wanted}`])
    if (id.startsWith(prefix) && (await kernel.find(id))) return id;
  if (wanted === "last") return findLastUsed(kernel, prefix);
  const listed = await findListed(scope.store, wanted);
  if (listed?.startsWith(prefix) && (await kernel.find(listed))) return listed;
  return findId(wanted, {
    kind: "session",
    ids: listSessionIds(kernel, prefix),
    fits: (id) => isMatch(id.slice(prefix.length), wanted),
    add: addRoot,
    notFound: "SESSION_NOT_FOUND",
    listing: LISTING,
  });
}

/** Finds the conversation with the newest entry; sub-agents do not count. */
async function findLastUsed(kernel: Kernel, prefix: string): Promise<SessionId> {
  let last: { readonly id: SessionId; readonly at: number } | undefined;
  for await (const { id, relation, createdAt } of listSessions(kernel, prefix)) {
    if (relation === "child") continue;
    await using session = await kernel.session(id);
    const head = await session.head();
    const at = head.seq > 0 ? head.at : createdAt;
    if (!last || at > last.at) last = { id, at };
  }
  if (last) return last.id;
  throw new LonghaulError("SESSION_NOT_FOUND", `The store has no sessions. "longhaul import" adds some.`, {
    details: { session: "last" },
  });
}

/** Adds an id unless its ancestor matches already: ids of sub-agents begin with the id of their parent. */
function addRoot(roots: readonly SessionId[], id: SessionId): readonly SessionId[] {
  if (roots.some((root) => id.startsWith(`${root}/`))) return roots;
  return [...roots.filter((root) => !root.startsWith(`${id}/`)), id];
}

/**
 * Matches the beginning or end of an id, or the beginning of a piece: imported ids begin with the name of their format.
 */
function isMatch(id: SessionId, wanted: string): boolean {
  return (
    id.startsWith(wanted) || id.endsWith(wanted) || id.split(/[:/]/).some((piece) => piece.startsWith(wanted))
  );
}

/** Yields all sessions whose ids begin with `prefix`, newest first, reading page by page. */
export async function* listSessions(kernel: Kernel, prefix = ""): AsyncGenerator<SessionRecord> {
  let before: SessionId | undefined;
  do {
    const page = await kernel.sessions({
      limit: PAGE,
      ...(prefix !== "" && { prefix }),
      ...(before !== undefined && { before }),
    });
    yield* page;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}

/** Yields the ids of all sessions, newest first. */
export async function* listSessionIds(kernel: Kernel, prefix = ""): AsyncGenerator<SessionId> {
  for await (const { id } of listSessions(kernel, prefix)) yield id;
}
