import type { TurnCandidate } from "./rank/turn-candidate.ts";
import { foldText } from "./text/fold-text.ts";

/** Share of named turns from which on people talk with each other. */
const MIN_NAMED_SHARE = 0.5;

/**
 * Keeps the speakers of candidates where they count: if people talk with each other, or if the question names one. In
 * the sessions of a single named user, or a few named turns among others, a name says no more than the role.
 */
export function chooseSpeakers(question: string, turns: readonly TurnCandidate[]): readonly TurnCandidate[] {
  const speakers = new Set(turns.flatMap(({ speaker }) => speaker ?? []));
  if (speakers.size === 0) return turns;
  const words = new Set(foldText(question).split(/[^\p{L}\p{N}]+/u));
  const isNamed = [...speakers].some((name) =>
    foldText(name)
      .split(/[^\p{L}\p{N}]+/u)
      .every((word) => words.has(word)),
  );
  const spoken = turns.filter(({ author }) => author === "user" || author === "assistant");
  const named = spoken.filter(({ speaker }) => speaker !== null).length;
  const isBetweenPeople = speakers.size > 1 && named >= MIN_NAMED_SHARE * spoken.length;
  return isNamed || isBetweenPeople ? turns : turns.map((turn) => ({ ...turn, speaker: null }));
}
