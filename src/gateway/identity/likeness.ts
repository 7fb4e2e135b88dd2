import { countCommonPrefix, findOmittedPlaces } from "../../conversation/align-messages.ts";
import { findTrimmedTurn, type KeyedMessages } from "./align-request.ts";
import { isSimilarKey } from "./canonical-key.ts";

/** The comparison of a thread with a request. */
export interface Likeness {
  /** Length of the common beginning. */
  readonly prefix: number;
  /** Messages common to both, at the beginning or at the end; includes messages that differ only in inputs of calls. */
  readonly same: number;
  /** Messages of the thread that the request omits. */
  readonly left: number;
  /** True if the request continues at the end of the thread: it follows the thread's last reply. */
  readonly isNext: boolean;
  /** True if the request contains the whole thread and then replies that the thread does not have. */
  readonly isBeyond: boolean;
  /** True if the request begins like the thread and ends differently: a turn was edited or retried. */
  readonly isAnotherEnd: boolean;
}

/** Share of messages that may have changed in a long conversation. */
const CHANGED_SHARE = 1 / 8;
/** Messages that a client may insert, such as a partial reply that it kept. */
const MAX_INSERTED = 2;
/** Messages that were sent with one request only. */
const MAX_VANISHED = 8;
/** Number of common messages at the end that proves a cut before them. */
const MIN_AFTER_CUT = 3;
/** Number of common messages at the end that proves a replaced beginning. */
const MIN_TAIL = 4;
const TAIL_SHARE = 0.6;
/** Number of remaining messages that identifies a conversation from which a client has only removed messages. */
const MIN_REMAINING = 2;

/** Compares the lines of threads with a request. */
export function compareToThreads(
  lines: readonly KeyedMessages[],
  request: KeyedMessages,
): readonly Likeness[] {
  return lines.map((line) => compareToThread(line, request));
}

/** Compares the line of a thread with a request. */
export function compareToThread(line: KeyedMessages, request: KeyedMessages): Likeness {
  const prefix = countCommonPrefix(line.keys, request.keys);
  const alike = countSimilarPrefix(line.keys, request.keys, prefix);
  const known = request.roles.lastIndexOf("assistant") + 1;
  const isWhole = alike === line.keys.length;
  // A trailing assistant message is a prefill by the client, not a known reply.
  const answer = findLastReply(request) + 1;
  const isAnotherEnd = !isWhole && answer > 0 && answer <= alike;
  if (isWhole || known === 0) {
    const isNext = isWhole && known > 0 && alike >= known;
    const isBeyond = isWhole && alike > 0 && alike < known;
    const left = line.keys.length - alike;
    return { prefix, same: alike, left, isNext, isBeyond, isAnotherEnd };
  }
  const compared = (same: number, isNext: boolean, hasOtherEnd = isAnotherEnd): Likeness => ({
    ...{ prefix, same, left: line.keys.length - same, isNext },
    ...{ isBeyond: false, isAnotherEnd: hasOtherEnd },
  });
  const still = countRemaining(line, request, known);
  if (still >= MIN_REMAINING) return compared(still, true);
  const kept = findTrimmedTurn(line, request)?.kept ?? 0;
  if (kept >= MIN_REMAINING) return compared(kept, false, true);
  // The thread ends with the reply that the request follows, or with the message that the request repeats.
  const ends = [known, request.keys.length].map((end) => ({
    end,
    tail: countSimilarSuffix(line.keys, request.keys, end, alike),
  }));
  const { end, tail } = ends.reduce((best, one) => (one.tail > best.tail ? one : best));
  return compared(alike + tail, tail > 0 && isExplained(line, alike, tail, end));
}

/** Index of the last reply before the last message; -1 if there is none. */
function findLastReply({ roles }: KeyedMessages): number {
  return roles.length < 2 ? -1 : roles.lastIndexOf("assistant", roles.length - 2);
}

/**
 * Number of the line's messages in a request that only removes messages and continues at the end of the line; else 0.
 */
function countRemaining({ keys }: KeyedMessages, request: KeyedMessages, known: number): number {
  const last = keys.at(-1);
  if (last === undefined || request.keys.lastIndexOf(last) < known - 1) return 0;
  const places = findOmittedPlaces(keys, request.keys);
  return places ? keys.length - places.length : 0;
}

/** True if known client behavior explains the difference between the common beginning and the common end. */
function isExplained(line: KeyedMessages, prefix: number, tail: number, end: number): boolean {
  const length = line.keys.length;
  const shorter = Math.min(length, end);
  if (prefix === 0) return tail >= MIN_TAIL && tail >= TAIL_SHARE * shorter;
  const lost = length - prefix - tail;
  const added = end - prefix - tail;
  const few = Math.floor(shorter * CHANGED_SHARE);
  if (lost <= few && added <= Math.max(few, MAX_INSERTED)) return true;
  if (added > few) return false;
  if (tail >= MIN_AFTER_CUT) return true;
  const gone = line.roles.slice(prefix, length - tail);
  return added === 0 && lost <= MAX_VANISHED && gone.every((role) => role === "user" || role === "system");
}

/** Length of the common beginning, given that the first `from` messages match. */
function countSimilarPrefix(line: readonly string[], request: readonly string[], from: number): number {
  const most = Math.min(line.length, request.length);
  let same = from;
  while (same < most && isSimilarKey(line[same] as string, request[same] as string)) same++;
  return same;
}

/** Length of the common end of the line and of the request's first `end` messages, after their common beginning. */
function countSimilarSuffix(
  line: readonly string[],
  request: readonly string[],
  end: number,
  prefix: number,
): number {
  const most = Math.min(line.length, end) - prefix;
  let same = 0;
  while (
    same < most &&
    isSimilarKey(line[line.length - 1 - same] as string, request[end - 1 - same] as string)
  )
    same++;
  return same;
}
