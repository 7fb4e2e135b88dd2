import { type EntryId, isLonghaulError, type Kernel, type Session } from "../../index.ts";
import { freeChildId } from "./names.ts";
import { metaOf, type SessionMark } from "./session-mark.ts";
import type { Thread } from "./thread.ts";

/** Concurrent forks of the same thread take other ids. */
const MOST_TRIES = 50;

/** Forks a thread's session at an entry, and returns it with the metadata for its own thread. */
export async function forkThread(
  kernel: Pick<Kernel, "find">,
  { session, conversation, mark }: Thread,
  at: EntryId,
): Promise<{ readonly session: Session; readonly mark: SessionMark }> {
  const own: SessionMark = { ...mark, kind: "agent" };
  for (let tries = 1; ; tries++) {
    const id = await freeChildId(kernel, session.id, own.kind, own.firstKey);
    try {
      const forked = await conversation.inTurn(async () => {
        await conversation.holds(at);
        return session.fork({ id, at, meta: metaOf(own) });
      });
      return { session: forked, mark: own };
    } catch (error) {
      const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
      if (!isTaken || tries >= MOST_TRIES) throw error;
    }
  }
}
