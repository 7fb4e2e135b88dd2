import { chooseThread, type ThreadCandidate, type ThreadChoice } from "../identity/choose-thread.ts";
import { findKnownConversation } from "../identity/find-known-conversation.ts";
import { compareToThreads } from "../identity/likeness.ts";
import { detectRequestKind, type RequestKind } from "../identity/request-kind.ts";
import type { ClientSummary } from "./client-summary.ts";
import { isCertainChoice } from "./is-certain-choice.ts";
import type { Thread } from "./thread.ts";
import { getComparedMessages, type ThreadLookup } from "./thread-lookup.ts";

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
  const hasMainConversation = explicit !== undefined && main?.hasTools === true;
  const continues = summary?.thread.session.id;
  const likenesses = compareToThreads(candidates, messages);
  const known = findKnownConversation(candidates, request, messages, likenesses);
  const kind = detectRequestKind({ ...facts, hasMainConversation, ...(known && { known }) });
  const sought = { keys, roles, shape, kind, explicit, agent, continues };
  const choice = chooseThread(candidates, sought, likenesses);
  const continued = choice.type === "continue" ? choice : undefined;
  return { choice, kind, isCertain: isCertainChoice(continued, candidates, request) };
}
