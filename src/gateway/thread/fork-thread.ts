import { type EntryId, isLonghaulError, type Kernel, type Session } from "../../index.ts";
import { findFreeChildId } from "../identity/session-ids.ts";
import type { Thread } from "./thread.ts";
import { encodeThreadMeta, type ThreadMeta } from "./thread-meta.ts";

/** Concurrent forks of the same thread take other ids. */
const MAX_TRIES = 50;

/** Forks a thread's session at an entry, and returns it with the metadata for its own thread. */
export async function forkThread(
  kernel: Pick<Kernel, "find">,
  { session, conversation, meta }: Thread,
  at: EntryId,
): Promise<{ readonly session: Session; readonly meta: ThreadMeta }> {
  const own: ThreadMeta = { ...meta, kind: "agent" };
  for (let tries = 1; ; tries++) {
    const id = await findFreeChildId(kernel, session.id, own.kind, own.firstKey);
    try {
      const forked = await conversation.runInTurn(async () => {
        await conversation.ensureOnLine(at);
        return session.fork({ id, at, keepsEdits: true, meta: encodeThreadMeta(own) });
      });
      return { session: forked, meta: own };
    } catch (error) {
      const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
      if (!isTaken || tries >= MAX_TRIES) throw error;
    }
  }
}
