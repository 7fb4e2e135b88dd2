import { LonghaulError } from "../../model/errors.ts";

/**
 * An entry's key packs session number (23 bits) and seq (30 bits) into one integer that JavaScript represents exactly.
 * The primary key alone finds an entry, ranges of one session are contiguous, and an append writes no other index.
 */
const SEQS_PER_SESSION = 2 ** 30;

const MAX_SESSION_NUMBER = 2 ** 23 - 1;

/** The key of an entry; `seq` 0 sorts before all entries of the session. */
export function toEntryKey(sessionNumber: number, seq: number): number {
  return sessionNumber * SEQS_PER_SESSION + seq;
}

export function seqOfKey(key: number): number {
  return key % SEQS_PER_SESSION;
}

/** Throws SESSION_LIMIT for a session number that does not fit in a key. */
export function checkSessionNumber(sessionNumber: number): number {
  if (sessionNumber <= MAX_SESSION_NUMBER) return sessionNumber;
  throw new LonghaulError(
    "SESSION_LIMIT",
    `This store has had ${MAX_SESSION_NUMBER} sessions, all it can number; open a store in another folder.`,
  );
}
