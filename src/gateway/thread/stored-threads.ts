import type { Kernel, Session, SessionId } from "../../index.ts";
import type { FamilyRoots } from "./family-roots.ts";
import { parseRedirect } from "./redirect.ts";
import { parseThreadMeta, type ThreadMeta } from "./thread-meta.ts";

const MAX_CHILDREN = 100;

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

/** Opens the stored conversations of a family that begin with this message, except the known ones. */
export async function openStoredThreads(
  kernel: Kernel,
  roots: FamilyRoots,
  firstKey: string,
  isKnown: (id: SessionId) => boolean,
): Promise<readonly StoredThread[]> {
  await roots.openStored();
  const found: StoredThread[] = [];
  for (const root of roots.sessions) {
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
      if (meta?.firstKey === firstKey && !isKnown(id))
        found.push({ session: await kernel.session(id), meta });
    }
  }
  return found;
}
