import type { Kernel, MessageInput, Role } from "../../index.ts";
import type { AgentShape } from "../identity/agent-shape.ts";
import {
  chooseThread,
  compareToThreads,
  findKnownConversation,
  type KeyedMessages,
  type ThreadCandidate,
  type ThreadChoice,
} from "../identity/choose-thread.ts";
import { detectRequestKind, type RequestFacts, type RequestKind } from "../identity/request-kind.ts";
import { type CallerIdentity, replaceOpening } from "../identity/session-ids.ts";
import type { CandidateLookup, Thread } from "../thread/thread.ts";
import type { ClientSummary } from "./client-summaries.ts";

/** The thread of a request, as far as the candidates tell. */
interface ThreadDecision {
  readonly choice: ThreadChoice;
  readonly kind: RequestKind;
  /** False if a conversation that another gateway has begun may fit better. */
  readonly isCertain: boolean;
}

/**
 * Decides which of the candidates a request continues. `main` is the main thread of its family, `summary` the one that
 * the request continues from.
 */
export function decideThread(
  request: ThreadLookup,
  candidates: readonly ThreadCandidate[],
  main: Thread | undefined,
  summary?: ClientSummary | undefined,
): ThreadDecision {
  const messages = getComparedMessages(request);
  const { keys, roles } = messages;
  const { shape, facts } = request;
  const { explicit, agent } = request.caller;
  const hasMainConversation = explicit !== undefined && main?.marks.hasTools === true;
  const continues = summary?.thread.session.id;
  const likenesses = compareToThreads(candidates, messages);
  const known = findKnownConversation(candidates, request, messages, likenesses);
  const kind = detectRequestKind({ ...facts, hasMainConversation, ...(known && { known }) });
  const sought = { keys, roles, shape, kind, explicit, agent, continues };
  const choice = chooseThread(candidates, sought, likenesses);
  const continued = choice.type === "continue" ? choice : undefined;
  return { choice, kind, isCertain: isCertainChoice(continued, candidates, request) };
}

interface CandidateDeps {
  readonly kernel: Pick<Kernel, "maintenance">;
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
}

/** Describes the threads that a request may belong to. */
export function listCandidates(
  threads: readonly Thread[],
  deps: CandidateDeps,
  request: ThreadLookup,
): Promise<readonly ThreadCandidate[]> {
  const { caller, firstKey } = request;
  const lookup = { explicit: caller.explicit, opening: firstKey, request: getComparedMessages(request) };
  return Promise.all(threads.map((thread) => describeWithAge(thread, deps, lookup)));
}

/**
 * Describes a thread, and marks it if it is empty and older than this gateway: that one was killed before it stored the
 * request. In a store that gateways share, another one may be about to fill it.
 */
async function describeWithAge(
  thread: Thread,
  { kernel, startedAt }: CandidateDeps,
  lookup: CandidateLookup,
): Promise<ThreadCandidate> {
  const candidate = await thread.describeCandidate(lookup);
  if (candidate.keys.length > 0 || candidate.isInFlight || kernel.maintenance.sharedStates) return candidate;
  const { createdAt } = await thread.session.record();
  return createdAt < startedAt ? { ...candidate, isAbandoned: true } : candidate;
}

/**
 * The threads that a request is compared with. If exactly one of them consists of all messages up to the last reply of
 * the request, no thread without that reply in its place can fit better. People begin many conversations with the same
 * words, and comparing each request with all of them takes long.
 */
export function narrowThreads(threads: readonly Thread[], request: ThreadLookup): readonly Thread[] {
  const { keys, roles, caller, firstKey } = request;
  const known = roles.lastIndexOf("assistant") + 1;
  // A trailing assistant message is a prefill by the client, not a known reply.
  if (threads.length < 2 || known < 2 || known === keys.length) return threads;
  let next: Thread | undefined;
  const others: Thread[] = [];
  for (const thread of threads) {
    const line = thread.conversation.peekLine();
    const hasReply = line?.keys[known - 1] === keys[known - 1];
    if (line && !hasReply && line.keys.length > 0) continue;
    // Without an id, the same opening stands for the first message, even if the client has changed that.
    const from = caller.explicit === undefined && thread.meta.firstKey === firstKey ? 1 : 0;
    const isNext =
      line?.keys.length === known && isFree(thread, request) && containsLine(keys, line.keys, from);
    if (isNext && !next) next = thread;
    else others.push(thread);
  }
  const hasTwin = others.some((thread) => thread.conversation.peekLine()?.keys.length === known);
  return next && !hasTwin ? threads.filter((thread) => thread === next || others.includes(thread)) : threads;
}

/** True if a request can continue the thread now. */
function isFree({ kind, progress, meta }: Thread, { caller }: ThreadLookup): boolean {
  return progress.inFlight === 0 && (kind === "main" || kind === "agent") && meta.agent === caller.agent;
}

/** True if a request contains all messages of a line from a place on. */
function containsLine(request: readonly string[], line: readonly string[], from: number): boolean {
  return line.every((key, place) => place < from || key === request[place]);
}

/** The choice of an existing thread. */
interface ContinuedThread {
  readonly id: string;
  readonly keep: number;
}

/**
 * True if a request contains the whole line of the chosen thread and no reply that the line lacks. In any other case a
 * conversation that another gateway has begun may fit better.
 */
function isCertainChoice(
  choice: ContinuedThread | undefined,
  candidates: readonly ThreadCandidate[],
  { roles }: Pick<ThreadLookup, "roles">,
): boolean {
  const line = candidates.find(({ id }) => id === choice?.id);
  return line?.keys.length === choice?.keep && !roles.slice(choice?.keep ?? 0).includes("assistant");
}

/** Facts of a request that are known before its thread. */
export interface ThreadLookup {
  readonly caller: CallerIdentity;
  readonly shape: AgentShape;
  /** Keys of the messages. */
  readonly keys: readonly string[];
  /** The key by which conversations with the same beginning are looked up. */
  readonly firstKey: string;
  readonly roles: readonly Role[];
  /** The ids of the calls that a message answers, if it holds nothing but short results. */
  readonly findShortResults: (index: number) => readonly string[] | undefined;
  /** Messages between the first and the last few may be empty. */
  readonly facts: RequestFacts;
  /** The first few messages; parsed only when a summary is searched for. */
  readonly opening: () => readonly MessageInput[];
  /** True if it continues the only conversation of its id, regardless of its messages. */
  readonly isMain?: boolean;
}

/** The messages by which a request is compared with threads; without an id, the first one by its opening. */
function getComparedMessages(request: ThreadLookup): KeyedMessages {
  const { keys, roles, firstKey, caller, findShortResults } = request;
  return {
    keys: caller.explicit === undefined ? replaceOpening(keys, firstKey) : keys,
    roles,
    findShortResults,
  };
}
