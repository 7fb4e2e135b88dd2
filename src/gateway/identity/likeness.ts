import { leftOut, samePrefix } from "../../conversation/align.ts";
import { type Said, trimmedBeforeReply } from "./align-request.ts";
import { isAlike } from "./canonical-key.ts";

/** What a thread and a request have in common. */
export interface Likeness {
  /** Length of the common beginning. */
  readonly prefix: number;
  /** Messages that both have, at their beginning or at their end; those that are merely alike count too. */
  readonly same: number;
  /** Messages of the thread that the request does not say. */
  readonly left: number;
  /** True if the request goes on where the thread ends: it answers the thread's last reply. */
  readonly isNext: boolean;
  /** True if the request says all that the thread says, and then replies that the thread does not know. */
  readonly isBeyond: boolean;
  /** True if the request is the thread's beginning with another end: a turn that was edited or is asked for again. */
  readonly isAnotherEnd: boolean;
}

/** In long conversations a few messages may have changed. */
const CHANGED_SHARE = 1 / 8;
/** What a client put in between, such as half a reply that it kept. */
const MOST_INSERTED = 2;
/** Messages that were said for one request only. */
const MOST_VANISHED = 8;
/** So many common messages at the end show that a client has cut something out before them. */
const LEAST_BEHIND_CUT = 3;
/** So many, that it has replaced the beginning. */
const LEAST_TAIL = 4;
const TAIL_SHARE = 0.6;
/** A client that has only left messages out is known by as many that it still says. */
const MIN_STILL_SAID = 2;

/** Compares the line of a thread with a request. */
export function likenessOf(line: Said, request: Said): Likeness {
  const prefix = samePrefix(line.keys, request.keys);
  const alike = alikePrefix(line.keys, request.keys, prefix);
  const known = request.roles.lastIndexOf("assistant") + 1;
  const isWhole = alike === line.keys.length;
  // What a client begins to say for the model stands last, and is none of the replies that it knows.
  const answered = request.roles.slice(0, -1).lastIndexOf("assistant") + 1;
  const isAnotherEnd = !isWhole && answered > 0 && answered <= alike;
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
  const still = stillSaid(line, request, known);
  if (still >= MIN_STILL_SAID) return compared(still, true);
  const kept = trimmedBeforeReply(line, request)?.kept ?? 0;
  if (kept >= MIN_STILL_SAID) return compared(kept, false, true);
  // The thread ends with the reply that the request answers, or with what is asked once more.
  const ends = [known, request.keys.length].map((end) => ({
    end,
    tail: alikeSuffix(line.keys, request.keys, end, alike),
  }));
  const { end, tail } = ends.reduce((best, one) => (one.tail > best.tail ? one : best));
  return compared(alike + tail, tail > 0 && isExplained(line, alike, tail, end));
}

/** How many messages of the line a request says that has only left others out, and goes on where the line ends; else 0. */
function stillSaid({ keys }: Said, request: Said, known: number): number {
  const last = keys.at(-1);
  if (last === undefined || request.keys.lastIndexOf(last) < known - 1) return 0;
  const places = leftOut(keys, request.keys);
  return places ? keys.length - places.length : 0;
}

/** True if what lies between the common beginning and the common end is what clients do to conversations. */
function isExplained(line: Said, prefix: number, tail: number, end: number): boolean {
  const length = line.keys.length;
  const shorter = Math.min(length, end);
  if (prefix === 0) return tail >= LEAST_TAIL && tail >= TAIL_SHARE * shorter;
  const lost = length - prefix - tail;
  const added = end - prefix - tail;
  const few = Math.floor(shorter * CHANGED_SHARE);
  if (lost <= few && added <= Math.max(few, MOST_INSERTED)) return true;
  if (added > few) return false;
  if (tail >= LEAST_BEHIND_CUT) return true;
  const gone = line.roles.slice(prefix, length - tail);
  return added === 0 && lost <= MOST_VANISHED && gone.every((role) => role === "user" || role === "system");
}

/** Length of the common beginning, of which the first `from` messages are known. */
function alikePrefix(line: readonly string[], request: readonly string[], from: number): number {
  const most = Math.min(line.length, request.length);
  let same = from;
  while (same < most && isAlike(line[same] as string, request[same] as string)) same++;
  return same;
}

/** Length of the common end of the line and of the request's first `end` messages, behind their common beginning. */
function alikeSuffix(
  line: readonly string[],
  request: readonly string[],
  end: number,
  prefix: number,
): number {
  const most = Math.min(line.length, end) - prefix;
  let same = 0;
  while (same < most && isAlike(line[line.length - 1 - same] as string, request[end - 1 - same] as string))
    same++;
  return same;
}
