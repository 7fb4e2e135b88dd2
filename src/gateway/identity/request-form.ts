import type { RequestFacts } from "./request-facts.ts";

/** Replies of so few tokens are names, labels or single words. */
export const FEW_TOKENS = 64;

/** True if the model has already said something in what the request repeats. */
export function hasHistory({ messages }: RequestFacts): boolean {
  return messages.some(({ role }) => role === "assistant");
}

/** True if a request repeats a conversation that offers tools, and offers none. */
export function hasToolsTakenAway({ toolNames, known }: RequestFacts): boolean {
  return toolNames.length === 0 && known?.hasTools === true;
}

/**
 * True if the system prompt was written for this request: it is not that of the conversation which the request repeats. What it
 * says is said by a program. A request that repeats a conversation nobody knows has that conversation's prompt.
 */
export function hasOwnLead(facts: RequestFacts): boolean {
  if (facts.lead === "") return false;
  return facts.known ? !facts.known.hasSameLead : !hasHistory(facts);
}

/** True if a request has the form of a question that a client asks for itself, whatever its words are. */
export function isAskedAside(facts: RequestFacts): boolean {
  if (facts.toolNames.length > 0) return false;
  const isBeside = facts.isBesideMain === true && !hasHistory(facts);
  const isShort = (facts.maxTokens ?? Number.POSITIVE_INFINITY) <= FEW_TOKENS;
  return isBeside || hasToolsTakenAway(facts) || isShort || facts.hasOutputFormat === true;
}
