import type { SessionRecord } from "../../index.ts";
import { DECIDING_KINDS } from "./last-sent-request.ts";
import type { Thread } from "./thread.ts";

/**
 * True if no edit applies to the conversation of a thread: it is empty, or nothing was edited since its last call. No
 * promise if the end of its log is in memory and is that of the last call.
 */
export function hasNoEdits(
  thread: Pick<Thread, "session" | "uneditedSeq">,
  record: SessionRecord,
): boolean | Promise<boolean> {
  const { session, uneditedSeq } = thread;
  const head = session.peekHead();
  if (!head) return session.head().then(({ seq }) => hasNoEditsUntil(thread, record, seq));
  return uneditedSeq === head.seq || hasNoEditsUntil(thread, record, head.seq);
}

async function hasNoEditsUntil(
  { session, uneditedSeq }: Pick<Thread, "session" | "uneditedSeq">,
  { relation }: SessionRecord,
  seq: number,
): Promise<boolean> {
  if (uneditedSeq === undefined) return seq === 0 && relation !== "fork";
  if (seq === uneditedSeq) return true;
  const [decided] = await session.read({ from: uneditedSeq + 1, to: seq, kinds: DECIDING_KINDS, limit: 1 });
  return decided === undefined;
}
