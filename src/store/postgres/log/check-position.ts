import type { AppendRequest } from "../../entry-store.ts";
import { createPositionConflict } from "../../refusals.ts";
import { checkSeqRoom } from "../../seq-limit.ts";

/** Throws POSITION_CONFLICT or SESSION_LIMIT. */
export function checkPosition(
  { session, expectedHead, entries }: AppendRequest,
  { seq }: { readonly seq: number },
): void {
  if (expectedHead !== undefined && expectedHead !== seq)
    throw createPositionConflict(session, expectedHead, seq);
  checkSeqRoom(session, seq, entries.length);
}
