import { EVIDENCE } from "../text/evidence.ts";
import type { ScopeKind } from "./feature-weights.ts";
import type { RankContext, TurnCandidate } from "./turn-candidate.ts";

/** Share of tool calls and results among the candidates from which on they are an agent's work. */
const MIN_TOOL_SHARE = 0.2;

/**
 * The kind of scope, by its contents: between people, turns are short and a session wanders; with an assistant, one
 * message covers a subject; an agent's work is spread over calls and results.
 */
export function findScopeKind(
  candidates: readonly TurnCandidate[],
  { speakers }: Pick<RankContext, "speakers">,
): ScopeKind {
  if (speakers.length > 0) return "people";
  const tools = candidates.filter(isToolUse).length;
  return tools > 0 && tools >= MIN_TOOL_SHARE * candidates.length ? "work" : "assistant";
}

function isToolUse({ author, chunks }: TurnCandidate): boolean {
  return author === "tool" || chunks.some(({ traits }) => (traits & EVIDENCE.call) !== 0);
}
