import { type Kernel, LonghaulError, type SessionId, type SessionRecord } from "../kernel/index.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { cutOwnPrefix, getConversationId } from "../model/session-key.ts";
import { listOwnSessions } from "../server/gateway/identity/index.ts";
import { findId } from "./find-id.ts";
import { findListed } from "./sessions/session-listing.ts";
import { isInScope, type SessionScope } from "./sessions/session-scope.ts";

const PAGE = 1_000;
const LISTING = "longhaul sessions";

/**
 * Finds a session by its id, by its number in the last listing, as "last", or by the only id that begins or ends with
 * the text or has a piece that begins with it. Throws SESSION_NOT_FOUND with the nearest ids, or ARGUMENT_INVALID with
 * the matching ids if there are several.
 */
export async function findSession(kernel: Kernel, wanted: string, scope: SessionScope): Promise<SessionId> {
  const { prefixes } = scope;
  for (const id of [wanted, ...(prefixes ?? []).map((prefix) => `${prefix}${wanted}`)])
    if (isInScope(scope, id) && (await kernel.find(id))) return id;
  if (wanted === "last") return findLastUsed(kernel, prefixes);
  const listed = await findListed(scope.store, wanted);
  if (listed !== undefined && isInScope(scope, listed) && (await kernel.find(listed))) return listed;
  const parents = new Map<SessionId, SessionId>();
  const listIds = async function* () {
    for await (const { id, parent, relation } of listSessions(kernel, prefixes)) {
      if (relation === "child" && parent !== undefined) parents.set(id, parent);
      yield id;
    }
  };
  return findId(wanted, {
    kind: "session",
    ids: listIds(),
    fits: (id) => isMatch(cutOwnPrefix(prefixes, id), wanted),
    add: (roots, id) => addRoot(roots, id, parents),
    notFound: "SESSION_NOT_FOUND",
    listing: LISTING,
  });
}

/** Finds the conversation with the newest entry; sub-agents do not count. */
async function findLastUsed(kernel: Kernel, prefixes: SessionScope["prefixes"]): Promise<SessionId> {
  let last: { readonly id: SessionId; readonly at: number } | undefined;
  for await (const { id, relation, createdAt } of listSessions(kernel, prefixes)) {
    if (relation === "child") continue;
    await using session = await kernel.session(id);
    const head = await session.head();
    const at = head.seq > 0 ? head.at : createdAt;
    if (!last || at > last.at) last = { id, at };
  }
  if (last) return last.id;
  const message = prefixes
    ? `This person has no sessions. "${LISTING}" lists those of everybody.`
    : `The store has no sessions. "longhaul import" adds some.`;
  throw new LonghaulError("SESSION_NOT_FOUND", message, { details: { session: "last" } });
}

/** Adds an id unless its ancestor matches already: a sub-agent stands for its conversation. */
function addRoot(
  roots: readonly SessionId[],
  id: SessionId,
  parents: ReadonlyMap<SessionId, SessionId>,
): readonly SessionId[] {
  const isBelow = (one: SessionId, other: SessionId) => {
    let at: SessionId | undefined = one;
    while (at !== undefined && at !== other) at = parents.get(at);
    return at === other || getConversationId(one) === other;
  };
  if (roots.some((root) => isBelow(id, root))) return roots;
  return [...roots.filter((root) => !isBelow(root, id)), id];
}

/**
 * Matches the beginning or end of an id, or the beginning of a piece: imported ids begin with the name of their format.
 */
function isMatch(id: SessionId, wanted: string): boolean {
  return (
    id.startsWith(wanted) || id.endsWith(wanted) || id.split(/[:/]/).some((piece) => piece.startsWith(wanted))
  );
}

/** Yields all sessions, or those whose ids begin with one of the prefixes, newest first, reading page by page. */
export async function* listSessions(
  kernel: Kernel,
  prefixes?: SessionScope["prefixes"],
): AsyncGenerator<SessionRecord> {
  let before: SessionId | undefined;
  do {
    const page = await listOwnSessions(kernel, prefixes, { limit: PAGE, ...dropUndefined({ before }) });
    yield* page;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}

/** All sessions of a store, newest first. */
export async function collectSessions(kernel: Kernel): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  for await (const record of listSessions(kernel)) records.push(record);
  return records;
}

/** Yields the ids of the same sessions. */
export async function* listSessionIds(
  kernel: Kernel,
  prefixes?: SessionScope["prefixes"],
): AsyncGenerator<SessionId> {
  for await (const { id } of listSessions(kernel, prefixes)) yield id;
}
