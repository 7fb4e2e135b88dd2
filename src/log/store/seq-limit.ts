import type { SessionId } from "../../model/entry.ts";
import { LonghaulError } from "../../model/errors.ts";

/** Largest seq of a session. */
export const MAX_SEQ = 2 ** 30 - 1;

/** Throws SESSION_LIMIT if a session's log has no room for `count` more entries. */
export function checkSeqRoom(session: SessionId, headSeq: number, count: number): void {
  if (headSeq + count <= MAX_SEQ) return;
  throw new LonghaulError(
    "SESSION_LIMIT",
    `Session ${JSON.stringify(session)} has ${headSeq} entries; ${MAX_SEQ} is the most one log can number. Fork it to go on.`,
    { details: { session } },
  );
}
