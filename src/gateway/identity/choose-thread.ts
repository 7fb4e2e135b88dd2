import { type AgentShape, isSameShape } from "./agent-shape.ts";
import type { KeyedMessages } from "./align-request.ts";
import { compareToThreads, type Likeness } from "./likeness.ts";
import type { RequestKind } from "./request-kind.ts";

/** The kind of a thread: a request's kind, or the conversation of a sub-agent. */
export type ThreadKind = RequestKind | "agent";

/** A thread that a request may belong to. */
export interface ThreadCandidate extends KeyedMessages {
  readonly id: string;
  readonly shape: AgentShape;
  readonly kind: ThreadKind;
  /** The session id and the sub-agent id that the client sent. */
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  /** Number of messages in its last request. */
  readonly lastRequestLength: number;
  readonly isInFlight: boolean;
  /** True if it is empty because a gateway was killed before it stored the first request. */
  readonly isAbandoned?: boolean | undefined;
  readonly lastReplyWasDelivered: boolean;
  /** If the last request retried one whose reply broke off, the number of messages in that first request. */
  readonly brokenLength?: number | undefined;
}

/** A request to be assigned to a thread. */
interface ThreadRequest extends KeyedMessages {
  readonly shape: AgentShape;
  readonly kind: RequestKind;
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  /** The thread whose compaction this request continues, as found by `hasSummary`. */
  readonly continues?: string | undefined;
}

/** The conversation that a request belongs to. */
export type ThreadChoice =
  /** An existing thread that shares its first `keep` messages with the request. */
  | { readonly type: "continue"; readonly id: string; readonly keep: number }
  | { readonly type: "new-main" }
  /** A new thread next to its parent; `parent` is missing if none is known yet. */
  | { readonly type: "new-child"; readonly kind: ThreadKind; readonly parent?: string };

interface ComparedThread {
  readonly thread: ThreadCandidate;
  readonly like: Likeness;
}

/**
 * Finds the thread of a request among the candidates of the same principal, most recently used first. `likenesses` are
 * those of the candidates, in their order.
 */
export function chooseThread(
  candidates: readonly ThreadCandidate[],
  request: ThreadRequest,
  likenesses: readonly Likeness[] = compareToThreads(candidates, request),
): ThreadChoice {
  const compared: ComparedThread[] = [];
  for (const [index, thread] of candidates.entries()) {
    if (thread.explicit === request.explicit) compared.push({ thread, like: likenesses[index] as Likeness });
  }
  if (request.kind !== "main") return chooseSideThread(compared, request);
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
function chooseSideThread(compared: readonly ComparedThread[], request: ThreadRequest): ThreadChoice {
  const same = compared.filter(({ thread }) => thread.kind === request.kind);
  const again = matchRetry(same, request) ?? matchAbandoned(same);
  if (again) return again;
  const mains = compared.filter(({ thread }) => thread.kind === "main" || thread.kind === "agent");
  const parent = findHighest(mains, ({ like }) => [like.same]);
  const isKnown = parent && (request.explicit !== undefined || parent.like.prefix > 0);
  return { type: "new-child", kind: request.kind, ...(isKnown && { parent: parent.thread.id }) };
}

/** Matches a retry of a request whose reply was not delivered. */
function matchRetry(compared: readonly ComparedThread[], request: ThreadRequest): ThreadChoice | undefined {
  const length = request.keys.length;
  const again = compared.find(
    ({ thread, like }) =>
      like.prefix === length &&
      thread.lastRequestLength === length &&
      !thread.lastReplyWasDelivered &&
      !thread.isInFlight,
  );
  return again && { type: "continue", id: again.thread.id, keep: length };
}

/** Matches a thread whose only request was forwarded, but not stored before the gateway was killed. */
function matchAbandoned(compared: readonly ComparedThread[]): ThreadChoice | undefined {
  const abandoned = compared.find(({ thread }) => thread.isAbandoned);
  return abandoned && { type: "continue", id: abandoned.thread.id, keep: 0 };
}

/** Matches an idle thread that ends with the reply this request follows. */
function matchNext(compared: readonly ComparedThread[]): ThreadChoice | undefined {
  const fitting = compared.filter(({ thread, like }) => like.isNext && !thread.isInFlight);
  const best = findHighest(fitting, ({ like }) => [like.same, like.prefix, -like.left]);
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/** Matches a thread that is answering the same request at this moment; a different request is a fork. */
function matchConcurrent(
  compared: readonly ComparedThread[],
  request: ThreadRequest,
): ThreadChoice | undefined {
  const fitting = compared.filter(({ thread, like }) => like.isNext && thread.isInFlight);
  const best = findHighest(fitting, ({ like }) => [like.same, like.prefix, -like.left]);
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
  const fitting = compared.filter(
    ({ thread, like }) =>
      like.isBeyond &&
      !thread.isInFlight &&
      (thread.roles.includes("assistant") || !thread.lastReplyWasDelivered),
  );
  const best = findHighest(fitting, ({ like }) => [like.prefix]);
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
  const fitting = compared.filter(({ thread, like }) => {
    const callRequest = thread.brokenLength ?? (thread.lastReplyWasDelivered ? 0 : thread.lastRequestLength);
    return (
      !thread.isInFlight && callRequest > 0 && request.keys.length > callRequest && like.prefix >= callRequest
    );
  });
  const best = findHighest(fitting, ({ like }) => [like.prefix]);
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

/** The first element with the highest scores, compared in order. */
function findHighest<T>(all: readonly T[], scoresOf: (one: T) => readonly number[]): T | undefined {
  let best: { readonly one: T; readonly scores: readonly number[] } | undefined;
  for (const one of all) {
    const scores = scoresOf(one);
    if (!best || isHigher(scores, best.scores)) best = { one, scores };
  }
  return best?.one;
}

function isHigher(scores: readonly number[], others: readonly number[]): boolean {
  const at = scores.findIndex((score, index) => score !== others[index]);
  return at >= 0 && (scores[at] as number) > (others[at] as number);
}
