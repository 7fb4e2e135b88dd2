import {
  type Alignment,
  alignMessages,
  countCommonPrefix,
  findOmittedPlaces,
} from "../../../kernel/calls/align-messages.ts";
import type { Role } from "../../../kernel/index.ts";
import { isSimilarKey } from "./canonical-key.ts";
import {
  type AgentShape,
  detectRequestKind,
  hasSameLead,
  isSameShape,
  type KnownConversation,
  type RequestFacts,
  type RequestKind,
} from "./request-kind.ts";

/** The kind of a thread: a request's kind, or the conversation of a sub-agent. */
export type ThreadKind = RequestKind | "agent";

/** A thread that a request may belong to. */
export interface ThreadCandidate extends KeyedMessages {
  readonly id: string;
  readonly shape: AgentShape;
  readonly kind: ThreadKind;
  /** The sub-agent id that the client sent. */
  readonly agent?: string | undefined;
  /** Number of messages in its last request. */
  readonly lastRequestLength: number;
  readonly isInFlight: boolean;
  /** True if it is empty because a gateway was killed before it stored the first request. */
  readonly isAbandoned?: boolean | undefined;
  readonly lastReplyWasDelivered: boolean;
  /** If the last request retried a request whose reply broke off, the number of messages in that first request. */
  readonly brokenLength?: number | undefined;
}

/** A request to be assigned to a thread. */
interface ThreadRequest extends KeyedMessages {
  readonly shape: AgentShape;
  /** The session id and the sub-agent id that the client sent. */
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  /** The thread whose compaction this request continues, as found by `hasSummary`. */
  readonly continues?: string | undefined;
}

/** The conversation that a request belongs to. */
type ThreadChoice =
  /** An existing thread that shares its first `keep` messages with the request. */
  | { readonly type: "continue"; readonly id: string; readonly keep: number }
  | { readonly type: "new-main" }
  /** A new thread next to its parent; `parent` is missing if none is known yet. */
  | { readonly type: "new-child"; readonly kind: ThreadKind; readonly parent?: string };

/** A thread compared with a request. */
interface ComparedThread {
  readonly thread: ThreadCandidate;
  readonly like: Likeness;
}

/** The conversation and the purpose of a request. */
export interface ThreadDecision {
  readonly choice: ThreadChoice;
  /** The place of the chosen thread among the candidates; -1 without one. */
  readonly chosen: number;
  readonly kind: RequestKind;
  /**
   * True if the request contains the whole line of the chosen thread and no reply that the line lacks: no other
   * conversation can fit better.
   */
  readonly isCertain: boolean;
}

/**
 * Decides the conversation and the purpose of a request. `candidates` are conversations of the same caller, most
 * recently used first.
 */
export function decideThread(
  candidates: readonly ThreadCandidate[],
  request: ThreadRequest & { readonly facts: RequestFacts },
): ThreadDecision {
  const { facts, shape, roles, explicit } = request;
  const compared: ComparedThread[] = [];
  for (const thread of candidates) compared.push({ thread, like: compareToThread(thread, request) });
  const main = explicit === undefined ? undefined : candidates.find((thread) => thread.kind === "main");
  const hasMainConversation = main !== undefined && main.shape.tools.length > 0;
  const known = findKnownConversation(compared, shape);
  const kind = detectRequestKind({ ...facts, hasMainConversation, known });
  const choice = chooseThread(compared, request, kind);
  const keep = choice.type === "continue" ? choice.keep : 0;
  const chosen = candidates.findIndex(({ id }) => choice.type === "continue" && id === choice.id);
  const isWhole = candidates[chosen]?.keys.length === keep && keep > 0;
  return { choice, chosen, kind, isCertain: isWhole && !roles.slice(keep).includes("assistant") };
}

/** Chooses the thread of a request of the given kind, most recently used first. */
export function chooseThread(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
  kind: RequestKind,
): ThreadChoice {
  if (kind !== "main") return chooseSideThread(compared, request, kind);
  const talks = compared.filter(
    ({ thread }) =>
      (thread.kind === "main" || thread.kind === "agent") && thread.agent === (request.agent ?? undefined),
  );
  return (
    matchRetry(talks, request) ??
    matchNext(talks) ??
    matchBrokenReply(talks, request) ??
    matchContinuation(compared, request) ??
    matchConcurrent(talks, request) ??
    matchEditedTurn(talks, request) ??
    matchBeginning(talks) ??
    matchAbandoned(talks) ??
    (request.explicit === undefined ? { type: "new-main" } : chooseUnderSameId(compared, request))
  );
}

/**
 * Titles, summaries and similar requests never continue a conversation; only a repeated question belongs to an existing
 * thread.
 */
function chooseSideThread(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
  kind: RequestKind,
): ThreadChoice {
  const same = compared.filter(({ thread }) => thread.kind === kind);
  const again = matchRetry(same, request) ?? matchAbandoned(same);
  if (again) return again;
  const mains = compared.filter(({ thread }) => thread.kind === "main" || thread.kind === "agent");
  const parent = findHighest(mains, ({ like }) => [like.same]);
  const isKnown = parent && (request.explicit !== undefined || parent.like.prefix > 0);
  return { type: "new-child", kind, ...(isKnown && { parent: parent.thread.id }) };
}

/** Matches a retry of a request whose reply was not delivered. */
function matchRetry(compared: readonly ComparedThread[], request: ThreadRequest): ThreadChoice | undefined {
  const length = request.keys.length;
  for (const { thread, like } of compared) {
    const isAgain = like.prefix === length && thread.lastRequestLength === length;
    if (isAgain && !thread.lastReplyWasDelivered && !thread.isInFlight)
      return { type: "continue", id: thread.id, keep: length };
  }
  return undefined;
}

/** Matches a thread whose only request was forwarded, but not stored before the gateway was killed. */
function matchAbandoned(compared: readonly ComparedThread[]): ThreadChoice | undefined {
  const abandoned = compared.find(({ thread }) => thread.isAbandoned);
  return abandoned && { type: "continue", id: abandoned.thread.id, keep: 0 };
}

/** Matches an idle thread that ends with the reply this request follows. */
function matchNext(compared: readonly ComparedThread[]): ThreadChoice | undefined {
  const best = findHighest(compared, ({ thread, like }) =>
    like.isNext && !thread.isInFlight ? [like.same, like.prefix, -like.left] : undefined,
  );
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/** Matches a thread that is answering the same request at this moment; a different request is a fork. */
function matchConcurrent(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
): ThreadChoice | undefined {
  const best = findHighest(compared, ({ thread, like }) =>
    like.isNext && thread.isInFlight ? [like.same, like.prefix, -like.left] : undefined,
  );
  return best && chooseWhileAnswering(best, request);
}

function chooseWhileAnswering({ thread, like }: ComparedThread, request: ThreadRequest): ThreadChoice {
  const length = request.keys.length;
  const isSame = like.prefix === length && thread.lastRequestLength === length;
  return isSame
    ? { type: "continue", id: thread.id, keep: length }
    : { type: "new-child", kind: "agent", parent: thread.id };
}

/** Matches a thread that has only the beginning, because some replies did not go through the gateway. */
function matchBeginning(compared: readonly ComparedThread[]): ThreadChoice | undefined {
  const best = findHighest(compared, ({ thread, like }) => {
    const isLeft = thread.roles.includes("assistant") || !thread.lastReplyWasDelivered;
    return like.isBeyond && !thread.isInFlight && isLeft ? [like.prefix] : undefined;
  });
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/**
 * Matches a thread whose last reply broke off: the request repeats that request and adds the client's version of the
 * partial reply and of its retry.
 */
function matchBrokenReply(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
): ThreadChoice | undefined {
  const best = findHighest(compared, ({ thread, like }) => {
    const length = thread.brokenLength ?? (thread.lastReplyWasDelivered ? 0 : thread.lastRequestLength);
    const isBroken = length > 0 && request.keys.length > length && like.prefix >= length;
    return isBroken && !thread.isInFlight ? [like.prefix] : undefined;
  });
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

function matchContinuation(
  compared: readonly ComparedThread[],
  { continues }: ThreadRequest,
): ThreadChoice | undefined {
  const thread = compared.find(({ thread }) => thread.id === continues)?.thread;
  return thread && !thread.isInFlight ? { type: "continue", id: thread.id, keep: 0 } : undefined;
}

/**
 * Matches a thread with an edited or retried turn; while the thread is still answering, the request is a fork.
 */
function matchEditedTurn(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
): ThreadChoice | undefined {
  const fitting = compared.filter(
    ({ thread, like }) => like.isAnotherEnd && isSameShape(thread.shape, request.shape),
  );
  const best = findHighest(fitting, ({ like }) => [like.prefix, like.same]);
  if (!best) return undefined;
  if (best.thread.isInFlight) return chooseWhileAnswering(best, request);
  // The request may belong to another conversation: of those that began alike and have gone on, none is rewound.
  const alike = fitting.filter(
    ({ thread, like }) => thread.kind === "main" && like.prefix === best.like.prefix,
  );
  if (alike.length > 1 && request.explicit === undefined) return undefined;
  return { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/** The client names the session, but the request does not continue its messages. */
function chooseUnderSameId(compared: readonly ComparedThread[], request: ThreadRequest): ThreadChoice {
  const main = compared.find(({ thread }) => thread.kind === "main");
  if (!main) return { type: "new-main" };
  const { thread, like } = main;
  const child: ThreadChoice = { type: "new-child", kind: "agent", parent: thread.id };
  const agent = request.agent ?? undefined;
  if (agent !== thread.agent) {
    const own = compared.find((other) => other.thread.agent === agent && other.thread.kind === "agent");
    return own && agent !== undefined
      ? { type: "continue", id: own.thread.id, keep: own.like.prefix }
      : child;
  }
  if (isSameShape(thread.shape, request.shape))
    return thread.isInFlight ? child : { type: "continue", id: thread.id, keep: like.prefix };
  // The first request was a question of the client itself that went undetected.
  const isOneQuestion = thread.shape.tools.length === 0 && !thread.roles.slice(0, -1).includes("assistant");
  if (isOneQuestion && request.shape.tools.length > 0) return { type: "new-main" };
  const isMostOfIt = like.prefix >= 2 && like.prefix * 2 >= thread.keys.length;
  return isMostOfIt && !thread.isInFlight ? { type: "continue", id: thread.id, keep: like.prefix } : child;
}

/** The first element with the highest scores, compared in order; one without scores does not count. */
function findHighest<T>(
  all: readonly T[],
  scoresOf: (one: T) => readonly number[] | undefined,
): T | undefined {
  let best: { readonly one: T; readonly scores: readonly number[] } | undefined;
  for (const one of all) {
    const scores = scoresOf(one);
    if (scores && (!best || isHigher(scores, best.scores))) best = { one, scores };
  }
  return best?.one;
}

function isHigher(scores: readonly number[], others: readonly number[]): boolean {
  const at = scores.findIndex((score, index) => score !== others[index]);
  return at >= 0 && (scores[at] as number) > (others[at] as number);
}

/** The comparison of a thread with a request. */
interface Likeness {
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

/** Compares the line of a thread with a request. */
export function compareToThread(line: KeyedMessages, request: KeyedMessages): Likeness {
  const prefix = countCommonPrefix(line.keys, request.keys);
  const most = Math.min(line.keys.length, request.keys.length);
  let alike = prefix;
  while (alike < most && isSimilarKey(line.keys[alike] as string, request.keys[alike] as string)) alike++;
  const known = request.roles.lastIndexOf("assistant") + 1;
  const isWhole = alike === line.keys.length;
  // A trailing assistant message is a prefill by the client, not a known reply.
  const answer = request.roles.slice(0, -1).lastIndexOf("assistant") + 1;
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

/** A sequence of messages, each as its canonical key and its role. */
export interface KeyedMessages {
  readonly keys: readonly string[];
  readonly roles: readonly Role[];
  /** The ids of the calls that a message answers, if it holds nothing but short results; only of requests. */
  readonly findShortResults?: (index: number) => readonly string[] | undefined;
}

/** Compares a line with a request, which carries the client's whole copy of the conversation. */
export function alignRequest(line: KeyedMessages, request: KeyedMessages): Alignment {
  const known = countCommonPrefix(line.keys, request.keys);
  if (known === line.keys.length) return { type: "follow", known };
  const places = findOmittedPlaces(line.keys, request.keys) ?? findTrimmedTurn(line, request)?.places;
  return places ? { type: "drop", places } : alignMessages(line.keys, request.keys);
}

/** A request whose client has trimmed the conversation and continues differently after the last reply it still has. */
interface TrimmedTurn {
  /** Positions on the line that the request omits. */
  readonly places: readonly number[];
  /** Number of the line's messages that the request still contains. */
  readonly kept: number;
}

/**
 * Compares a line with a request that edits a turn or retries it, in a conversation that its client has trimmed.
 * Returns undefined if no message was omitted before that turn, or if the request contains a message there that the
 * line lacks.
 */
function findTrimmedTurn(line: KeyedMessages, request: KeyedMessages): TrimmedTurn | undefined {
  // A trailing assistant message is a prefill for the model to continue.
  const answer = request.roles.slice(0, -1).lastIndexOf("assistant") + 1;
  const last = request.keys[answer - 1];
  if (last === undefined || countCommonPrefix(line.keys, request.keys) >= answer) return undefined;
  const end = line.keys.lastIndexOf(last) + 1;
  const before = findOmittedPlaces(line.keys.slice(0, end), request.keys.slice(0, answer));
  if (!before) return undefined;
  const callRequest = countCommonPrefix(line.keys.slice(end), request.keys.slice(answer));
  const after = Array.from(
    { length: line.keys.length - end - callRequest },
    (_, index) => end + callRequest + index,
  );
  return { places: [...before, ...after], kept: end - before.length + callRequest };
}

/** A request that repeats fewer messages could belong to any conversation. */
const MIN_REPEATED = 2;

/** The known conversation that shares the most messages with a request; undefined if none shares enough. */
function findKnownConversation(
  compared: readonly ComparedThread[],
  shape: AgentShape,
): KnownConversation | undefined {
  let best: ThreadCandidate | undefined;
  let most = MIN_REPEATED - 1;
  for (const { thread, like } of compared) {
    const repeated = Math.max(like.prefix, like.same);
    if ((thread.kind !== "main" && thread.kind !== "agent") || repeated <= most) continue;
    best = thread;
    most = repeated;
  }
  return best && { hasTools: best.shape.tools.length > 0, hasSameLead: hasSameLead(best.shape, shape) };
}
