import type { SessionRecord } from "../../index.ts";
import { DECIDING_KINDS } from "./last-sent-request.ts";
import type { Thread } from "./thread.ts";

/** True if no edit applies to the conversation of a thread: it is empty, or nothing was edited since its last call. */
export async function hasNoEdits(
  thread: Pick<Thread, "session" | "uneditedSeq">,
  { relation }: SessionRecord,
): Promise<boolean> {
  const { session, uneditedSeq } = thread;
  const { seq } = await session.head();
  if (uneditedSeq === undefined) return seq === 0 && relation !== "fork";
  if (seq === uneditedSeq) return true;
  const [decided] = await session.read({ from: uneditedSeq + 1, to: seq, kinds: DECIDING_KINDS, limit: 1 });
  return decided === undefined;
}
