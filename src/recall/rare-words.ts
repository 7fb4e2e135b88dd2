import type { RankedChunk } from "./make-hits.ts";
import { analyzeWord } from "./text/analyze-text.ts";
import { splitWords } from "./text/split-words.ts";

/** Distinct terms of the question's words, identifiers as a whole. */
export function listWholeTerms(question: string): readonly string[] {
  return [...new Set(splitWords(question).flatMap((word) => analyzeWord(word).slice(0, 1)))];
}

/**
 * Ensures that a word that hardly any other text contains leads to its place, regardless of the ranking: first if it is
 * the only word of the question, otherwise among the first `k`. `rare` holds the places of each such word.
 */
export function liftRareWords(
  ranked: readonly RankedChunk[],
  rare: readonly ReadonlySet<string>[],
  placeOf: (chunk: RankedChunk) => string,
  { isOnlyWord, k }: { readonly isOnlyWord: boolean; readonly k: number },
): readonly RankedChunk[] {
  const shown = ranked.slice(0, isOnlyWord ? 1 : k);
  const isIn = (places: ReadonlySet<string>) => (one: RankedChunk) => places.has(placeOf(one));
  const missing = rare.filter((places) => !shown.some(isIn(places)));
  const found = missing.flatMap((places) => ranked.find(isIn(places)) ?? []);
  // The best match of all words together stays first.
  const lifted = new Set(isOnlyWord ? found : found.slice(0, Math.floor(k / 2)));
  if (lifted.size === 0) return ranked;
  const others = ranked.filter((one) => !lifted.has(one));
  const at = isOnlyWord ? 0 : k - lifted.size;
  return [...others.slice(0, at), ...lifted, ...others.slice(at)];
}
