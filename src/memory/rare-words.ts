import type { RankedChunk } from "./make-hits.ts";
import { termsOfWord } from "./text/analyse.ts";
import { words } from "./text/words.ts";

/** Terms of the question's words as they stand, identifiers whole; each once. */
export function wholeTerms(question: string): readonly string[] {
  return [...new Set(words(question).flatMap((word) => termsOfWord(word).slice(0, 1)))];
}

/**
 * Makes sure that a word which hardly anything else has leads to where it stands, whatever ranking thinks of the rest: a
 * question of that word alone has it first, any other among the first `k`. `rare` has the places of each such word.
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
  // The best of all the words together stays first.
  const lifted = new Set(isOnlyWord ? found : found.slice(0, Math.floor(k / 2)));
  if (lifted.size === 0) return ranked;
  const others = ranked.filter((one) => !lifted.has(one));
  const at = isOnlyWord ? 0 : k - lifted.size;
  return [...others.slice(0, at), ...lifted, ...others.slice(at)];
}
