import { createArgumentError } from "../../model/errors.ts";
import type { MatchedSentence } from "../hit-details.ts";
import { analyzeText } from "../text/analyze-text.ts";
import type { Chunk } from "../text/split-text.ts";
import { findWords } from "../text/split-words.ts";
import { splitStatements } from "../text/statements.ts";

/** Finds the sentence or line with most of the question's weight, the first of equals; undefined if none has any. */
export function findMatchedSentence(
  question: string,
  text: string,
  weightOf: (term: string) => number = () => 1,
): MatchedSentence | undefined {
  for (const [name, value] of Object.entries({ question, text }))
    if (typeof value !== "string") throw createArgumentError(name, value, "a text");
  if (typeof weightOf !== "function") throw createArgumentError("weightOf", weightOf, "a function");
  const asked = new Map(analyzeText(question).map((term) => [term, weightOf(term)]));
  let best: MatchedSentence | undefined;
  let most = 0;
  for (const { from, to } of splitStatements(text)) {
    const found = new Set<string>();
    const words: Chunk[] = [];
    for (const word of findWords(text.slice(from, to))) {
      const shared = analyzeText(text.slice(from + word.from, from + word.to)).filter((term) =>
        asked.has(term),
      );
      if (shared.length === 0) continue;
      for (const term of shared) found.add(term);
      words.push({ from: from + word.from, to: from + word.to });
    }
    let weight = 0;
    for (const term of found) weight += asked.get(term) ?? 0;
    if (weight > most) [best, most] = [{ from, to, words }, weight];
  }
  return best;
}
