import type { Said } from "./align-request.ts";
import type { Kind } from "./kind.ts";
import { type Likeness, likenessOf } from "./likeness.ts";
import { isSameShape, type Shape } from "./shape.ts";

/** The kind of a thread: a request's kind, or the conversation of a sub-agent. */
export type ThreadKind = Kind | "agent";

/** A thread that a request may belong to. */
export interface Candidate extends Said {
  readonly id: string;
  readonly shape: Shape;
  readonly kind: ThreadKind;
  /** The session id and the sub-agent id that the client sent. */
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  /** Number of messages in its last request. */
  readonly lastRequestLength: number;
  readonly isInFlight: boolean;
  readonly lastReplyWasDelivered: boolean;
  /** If the last request retried one whose reply broke off, the number of messages in that first request. */
  readonly brokenLength?: number | undefined;
}

/** A request to be assigned to a thread. */
export interface ThreadRequest extends Said {
  readonly shape: Shape;
  readonly kind: Kind;
  readonly explicit?: string | undefined;
  readonly agent?: string | undefined;
  /** The thread whose compaction this request continues, as found by `isContinuedFrom`. */
  readonly continues?: string | undefined;
}

/** The conversation that a request belongs to. */
export type Choice =
  /** An existing thread that shares its first `keep` messages with the request. */
  | { readonly type: "continue"; readonly id: string; readonly keep: number }
  | { readonly type: "new-main" }
  /** A new thread next to its parent; `parent` is missing if none is known yet. */
  | { readonly type: "new-child"; readonly kind: ThreadKind; readonly parent?: string };

interface Compared {
  readonly thread: Candidate;
  readonly like: Likeness;
}

/** Finds the thread of a request among the candidates of the same principal, most recently used first. */
export function chooseThread(candidates: readonly Candidate[], request: ThreadRequest): Choice {
  const own = candidates.filter(({ explicit }) => explicit === request.explicit);
  const compared = own.map((thread): Compared => ({ thread, like: likenessOf(thread, request) }));
  if (request.kind !== "main") return besideMain(compared, request);
  const talks = compared.filter(
    ({ thread }) =>
      (thread.kind === "main" || thread.kind === "agent") && thread.agent === (request.agent ?? undefined),
  );
  return (
    askedAgain(talks, request) ??
    next(talks) ??
    afterBrokenReply(talks, request) ??
    carriedOn(own, request) ??
    atOnce(talks, request) ??
    anotherEnd(talks, request) ??
    beyond(talks) ??
    (request.explicit === undefined ? { type: "new-main" } : underSameId(compared, request))
  );
}

/**
 * Titles, summaries and similar requests never continue a conversation; only a repeated question belongs to an existing
 * thread.
 */
function besideMain(compared: readonly Compared[], request: ThreadRequest): Choice {
  const same = compared.filter(({ thread }) => thread.kind === request.kind);
  const again = askedAgain(same, request);
  if (again) return again;
  const mains = compared.filter(({ thread }) => thread.kind === "main" || thread.kind === "agent");
  const parent = mostOf(mains, ({ like }) => [like.same]);
  const isKnown = parent && (request.explicit !== undefined || parent.like.prefix > 0);
  return { type: "new-child", kind: request.kind, ...(isKnown && { parent: parent.thread.id }) };
}

/** Matches a retry of a request whose reply was not delivered. */
function askedAgain(compared: readonly Compared[], request: ThreadRequest): Choice | undefined {
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

/** Matches an idle thread that ends with the reply this request follows. */
function next(compared: readonly Compared[]): Choice | undefined {
  const fitting = compared.filter(({ thread, like }) => like.isNext && !thread.isInFlight);
  const best = mostOf(fitting, ({ like }) => [like.same, like.prefix, -like.left]);
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/** Matches a thread that is answering the same request at this moment; a different request is a fork. */
function atOnce(compared: readonly Compared[], request: ThreadRequest): Choice | undefined {
  const fitting = compared.filter(({ thread, like }) => like.isNext && thread.isInFlight);
  const best = mostOf(fitting, ({ like }) => [like.same, like.prefix, -like.left]);
  return best && whileAnswering(best, request);
}

function whileAnswering({ thread, like }: Compared, request: ThreadRequest): Choice {
  const length = request.keys.length;
  const isSame = like.prefix === length && thread.lastRequestLength === length;
  return isSame
    ? { type: "continue", id: thread.id, keep: length }
    : { type: "new-child", kind: "agent", parent: thread.id };
}

/** Matches a thread that has only the beginning, because some replies did not go through the gateway. */
function beyond(compared: readonly Compared[]): Choice | undefined {
  const fitting = compared.filter(
    ({ thread, like }) =>
      like.isBeyond &&
      !thread.isInFlight &&
      (thread.roles.includes("assistant") || !thread.lastReplyWasDelivered),
  );
  const best = mostOf(fitting, ({ like }) => [like.prefix]);
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/**
 * Matches a thread whose last reply broke off: the request repeats that request and adds the client's version of the
 * partial reply and of its retry.
 */
function afterBrokenReply(compared: readonly Compared[], request: ThreadRequest): Choice | undefined {
  const fitting = compared.filter(({ thread, like }) => {
    const asked = thread.brokenLength ?? (thread.lastReplyWasDelivered ? 0 : thread.lastRequestLength);
    return !thread.isInFlight && asked > 0 && request.keys.length > asked && like.prefix >= asked;
  });
  const best = mostOf(fitting, ({ like }) => [like.prefix]);
  return best && { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

function carriedOn(own: readonly Candidate[], { continues }: ThreadRequest): Choice | undefined {
  const thread = own.find(({ id }) => id === continues);
  return thread && !thread.isInFlight ? { type: "continue", id: thread.id, keep: 0 } : undefined;
}

/**
 * Matches a thread with an edited or retried turn; while the thread is still answering, the request is a fork.
 */
function anotherEnd(compared: readonly Compared[], request: ThreadRequest): Choice | undefined {
  const fitting = compared.filter(
    ({ thread, like }) => like.isAnotherEnd && isSameShape(thread.shape, request.shape),
  );
  const best = mostOf(fitting, ({ like }) => [like.prefix, like.same]);
  if (!best) return undefined;
  if (best.thread.isInFlight) return whileAnswering(best, request);
  return { type: "continue", id: best.thread.id, keep: best.like.prefix };
}

/** The client names the session, but the request does not continue its messages. */
function underSameId(compared: readonly Compared[], request: ThreadRequest): Choice {
  const main = compared.find(({ thread }) => thread.kind === "main");
  if (!main) return { type: "new-main" };
  const { thread, like } = main;
  const child: Choice = { type: "new-child", kind: "agent", parent: thread.id };
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
function mostOf<T>(all: readonly T[], scoresOf: (one: T) => readonly number[]): T | undefined {
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
