import type { RankedChunk } from "./make-hits.ts";
import { termsOfWord } from "./text/analyse.ts";
import { words } from "./text/words.ts";

/** Terms of the question's words as they stand, identifiers whole; each once. */
export function wholeTerms(question: string): readonly string[] {
  return [...new Set(words(question).flatMap((word) => termsOfWord(word).slice(0, 1)))];
}

/**
 * Makes sure that a word which hardly anything else has leads to where it stands, whatever ranking thinks of the rest: a
 * question of that word alone has it first, any other among the first `k`.
 */
export function liftRareWords(
  ranked: readonly RankedChunk[],
  rare: ReadonlySet<number>,
  placesOf: (chunk: number) => string | undefined,
  { isOnlyWord, k }: { readonly isOnlyWord: boolean; readonly k: number },
): readonly RankedChunk[] {
  if (rare.size === 0) return ranked;
  const wanted = new Set([...rare].map(placesOf));
  const isWanted = ({ chunk }: RankedChunk) => wanted.has(placesOf(chunk.number));
  const from = isOnlyWord ? 0 : k;
  const late = ranked.slice(from).filter(isWanted).slice(0, k);
  if (late.length === 0) return ranked;
  const lifted = new Set(late);
  const others = ranked.filter((one) => !lifted.has(one));
  const at = isOnlyWord ? 0 : Math.max(0, k - late.length);
  return [...others.slice(0, at), ...late, ...others.slice(at)];
}
