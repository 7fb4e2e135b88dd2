import type { Kernel, Session, SessionId } from "../../index.ts";
import { getMessageKey } from "../identity/message-key.ts";
import type { FamilyRoots } from "./family-roots.ts";
import { parseRedirect } from "./redirect.ts";
import { parseThreadMeta, type ThreadMeta } from "./thread-meta.ts";

const MAX_CHILDREN = 100;
/** Number of stored sessions with the same beginning to search for a reply, newest first. */
const MAX_SEARCHED = 1_000;
const PAGE_RECORDS = 100;
/** Number of conversations to open that end with the same reply. */
const MAX_FOUND = 32;
/** The last reply that a client has is among this many messages at the end of its conversation. */
const LAST_MESSAGES = 6;

/** A stored conversation. */
interface StoredThread {
  readonly session: Session;
  readonly meta: ThreadMeta;
}

/** Opens the stored conversation with an id; undefined if there is none. */
export async function openStoredThread(kernel: Kernel, id: SessionId): Promise<StoredThread | undefined> {
  const meta = parseThreadMeta((await kernel.find(id))?.meta);
  return meta && { session: await kernel.session(id), meta };
}

/** The stored conversations to open. */
interface StoredSearch {
  readonly firstKey: string;
  /** True if others may have begun secondary conversations of roots that are open here. */
  readonly isShared: boolean;
  readonly isKnown: (id: SessionId) => boolean;
}

/** Opens the newest stored conversations of a family that begin with this message, except the known ones. */
export async function openStoredThreads(
  kernel: Kernel,
  roots: FamilyRoots,
  { firstKey, isShared, isKnown }: StoredSearch,
): Promise<readonly StoredThread[]> {
  const opened = await roots.openStored();
  const found: StoredThread[] = [];
  for (const root of isShared ? roots.sessions : opened) {
    if (!isKnown(root.id)) {
      const { meta: stored } = await root.record();
      const meta = parseThreadMeta(stored);
      const elsewhere = parseRedirect(stored);
      const target = elsewhere !== undefined && !isKnown(elsewhere) ? elsewhere : undefined;
      const redirected = target === undefined ? undefined : await openStoredThread(kernel, target);
      if (meta) found.push({ session: root, meta });
      else if (redirected) found.push(redirected);
    }
    for (const { id, meta: stored } of await root.children({ limit: MAX_CHILDREN })) {
      const meta = parseThreadMeta(stored);
      // A fork under an id of its own is another family.
      const isOwn = id.startsWith(`${root.id}/`);
      if (isOwn && meta?.firstKey === firstKey && !isKnown(id))
        found.push({ session: await kernel.session(id), meta });
    }
  }
  return found;
}

/** Opens the stored conversations whose ids have one of the prefixes and that end with a reply, newest first. */
export async function openThreadsWithReply(
  kernel: Kernel,
  prefixes: readonly string[],
  reply: string,
  isKnown: (id: SessionId) => boolean,
): Promise<readonly StoredThread[]> {
  const found: StoredThread[] = [];
  for (const prefix of prefixes) {
    let before: SessionId | undefined;
    for (let searched = 0; searched < MAX_SEARCHED; searched += PAGE_RECORDS) {
      const page = { prefix, limit: PAGE_RECORDS, ...(before !== undefined && { before }) };
      const records = await kernel.sessions(page);
      for (const { id, meta: stored } of records) {
        const meta = parseThreadMeta(stored);
        if (!meta || isKnown(id) || !(await endsWithReply(kernel, id, reply))) continue;
        found.push({ session: await kernel.session(id), meta });
        if (found.length === MAX_FOUND) return found;
      }
      before = records.at(-1)?.id;
      if (records.length < PAGE_RECORDS) break;
    }
  }
  return found;
}

/** True if a reply with this key is among the last messages of a stored conversation. */
export async function endsWithReply(kernel: Kernel, id: SessionId, reply: string): Promise<boolean> {
  const session = await kernel.session(id);
  const { entries } = await session.page({ kinds: ["message"], limit: LAST_MESSAGES });
  await session.close();
  return entries.some((entry) => entry.kind === "message" && getMessageKey(entry.message) === reply);
}
