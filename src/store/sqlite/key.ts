import { LonghaulError } from "../../model/errors.ts";

/**
 * An entry's key packs session number and seq into one integer that JavaScript holds exactly: 23 bits of session
 * number, 30 bits of seq. So the primary key alone finds an entry, ranges of one session are contiguous, and no other
 * index has to be written by an append.
 */
const SEQS_PER_SESSION = 2 ** 30;

/** Largest seq of a session. */
export const MAX_SEQ = SEQS_PER_SESSION - 1;

const MAX_SESSION_NUMBER = 2 ** 23 - 1;

/** The key of an entry; `seq` 0 is below all entries of the session. */
export function entryKey(sessionNumber: number, seq: number): number {
  return sessionNumber * SEQS_PER_SESSION + seq;
}

/** The seq in a key. */
export function seqOfKey(key: number): number {
  return key % SEQS_PER_SESSION;
}

/** Throws SESSION_LIMIT for a session number that keys cannot hold. */
export function checkSessionNumber(sessionNumber: number): number {
  if (sessionNumber <= MAX_SESSION_NUMBER) return sessionNumber;
  throw new LonghaulError(
    "SESSION_LIMIT",
    `This store has had ${MAX_SESSION_NUMBER} sessions, all it can number; open a store in another folder.`,
  );
}

/** Throws SESSION_LIMIT when a session's log cannot take `count` more entries. */
export function checkSeqRoom(session: string, headSeq: number, count: number): void {
  if (headSeq + count <= MAX_SEQ) return;
  throw new LonghaulError(
    "SESSION_LIMIT",
    `Session ${JSON.stringify(session)} has ${headSeq} entries; ${MAX_SEQ} is the most one log can number. Fork it to go on.`,
    {
      details: { session },
    },
  );
}
