import type { RequestFacts } from "./request-facts.ts";

/** Replies of at most this many tokens are titles, labels or single words. */
export const FEW_TOKENS = 64;

/** True if the request contains a reply of the model. */
export function hasHistory({ messages }: RequestFacts): boolean {
  return messages.some(({ role }) => role === "assistant");
}

/** True if a request repeats a conversation that offers tools, but offers none itself. */
export function lacksKnownTools({ toolNames, known }: RequestFacts): boolean {
  return toolNames.length === 0 && known?.hasTools === true;
}

/**
 * True if the system prompt was written for this request, by a program: it differs from the prompt of the conversation
 * that the request repeats. A request that repeats an unknown conversation is assumed to have that conversation's
 * prompt.
 */
export function hasOwnLead(facts: RequestFacts): boolean {
  if (facts.lead === "") return false;
  return facts.known ? !facts.known.hasSameLead : !hasHistory(facts);
}

/** True if a request has the form of a question that a client asks for itself, regardless of its words. */
export function isSideQuestion(facts: RequestFacts): boolean {
  if (facts.toolNames.length > 0) return false;
  const isBeside = facts.hasMainConversation === true && !hasHistory(facts);
  const isShort = (facts.maxTokens ?? Number.POSITIVE_INFINITY) <= FEW_TOKENS;
  return isBeside || lacksKnownTools(facts) || isShort || facts.hasOutputFormat === true;
}
