import type { Kernel, MessageInput, Role } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
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
import type { Thread } from "../thread/thread.ts";
import type { ClientSummary } from "./client-summaries.ts";

/** The thread of a request. */
export interface ThreadDecision {
  readonly choice: ThreadChoice;
  /** The thread that the choice continues. */
  readonly chosen: Thread | undefined;
  readonly kind: RequestKind;
  /**
   * True if the request contains the whole line of the chosen thread and no reply that the line lacks: no other
   * conversation can fit better.
   */
  readonly isCertain: boolean;
}

/** Decides which of the threads a request continues; `summary` is the one that it continues from. */
export function decideThread(
  request: ThreadLookup,
  threads: readonly Thread[],
  described: readonly ThreadCandidate[],
  summary?: ClientSummary | undefined,
): ThreadDecision {
  // Another request may have reserved a thread since it was described.
  const candidates = described.map((candidate, index) => {
    const isInFlight = (threads[index] as Thread).progress.inFlight > 0;
    return candidate.isInFlight === isInFlight ? candidate : { ...candidate, isInFlight };
  });
  const messages = getComparedMessages(request);
  const { keys, roles } = messages;
  const { shape, facts } = request;
  const { explicit, agent } = request.caller;
  const main = findMain(threads);
  const hasMainConversation = explicit !== undefined && main?.marks.hasTools === true;
  const continues = summary?.thread.session.id;
  const likenesses = compareToThreads(candidates, messages);
  const known = findKnownConversation(candidates, request, messages, likenesses);
  const kind = detectRequestKind({ ...facts, hasMainConversation, ...dropUndefined({ known }) });
  const sought = { keys, roles, shape, kind, explicit, agent, continues };
  const choice = chooseThread(candidates, sought, likenesses);
  if (choice.type !== "continue") return { choice, kind, chosen: undefined, isCertain: false };
  const index = candidates.findIndex(({ id }) => id === choice.id);
  const isWhole = candidates[index]?.keys.length === choice.keep;
  return {
    choice,
    kind,
    chosen: threads[index],
    isCertain: isWhole && choice.keep > 0 && !roles.slice(choice.keep).includes("assistant"),
  };
}

/** The main conversation among threads, most recently used first. */
export function findMain(threads: readonly Thread[]): Thread | undefined {
  return threads.find(({ kind }) => kind === "main");
}

interface CandidateDeps {
  readonly kernel: Pick<Kernel, "maintenance">;
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
}

/**
 * Describes the threads that a request may belong to, and marks those that are empty and older than this gateway: that
 * one was killed before it stored the request. In a store that gateways share, another one may be about to fill it.
 */
export function describeThreads(
  threads: readonly Thread[],
  { kernel, startedAt }: CandidateDeps,
  request: ThreadLookup,
): Promise<readonly ThreadCandidate[]> {
  const { caller, firstKey } = request;
  const lookup = { explicit: caller.explicit, opening: firstKey, request: getComparedMessages(request) };
  const describe = async (thread: Thread): Promise<ThreadCandidate> => {
    const candidate = await thread.describeCandidate(lookup);
    if (candidate.keys.length > 0 || candidate.isInFlight || kernel.maintenance.sharedStates)
      return candidate;
    const { createdAt } = await thread.session.record();
    return createdAt < startedAt ? { ...candidate, isAbandoned: true } : candidate;
  };
  return Promise.all(threads.map(describe));
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
