import type { Kernel, SessionId } from "../index.ts";
import { findId } from "./find-id.ts";

const PAGE = 1_000;

/**
 * Finds the session with that id, or the only session whose id begins or ends with the text or has a piece that begins
 * with it. Throws SESSION_NOT_FOUND with the nearest ids, or ARGUMENT_INVALID with the matching ids if there are
 * several.
 */
export async function findSession(kernel: Kernel, wanted: string): Promise<SessionId> {
  if (await kernel.find(wanted)) return wanted;
  return findId(wanted, {
    kind: "session",
    ids: listSessionIds(kernel),
    fits: (id) => isMatch(id, wanted),
    add: addRoot,
    notFound: "SESSION_NOT_FOUND",
    listing: "longhaul sessions",
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

/** Yields the ids of all sessions, newest first, reading page by page. */
export async function* listSessionIds(kernel: Kernel): AsyncGenerator<SessionId> {
  let before: SessionId | undefined;
  do {
    const page = await kernel.sessions({ limit: PAGE, ...(before !== undefined && { before }) });
    for (const { id } of page) yield id;
    before = page.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined);
}
