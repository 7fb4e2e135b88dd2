import { createTokenizer, type TokenSource } from "../../src/recall/embed/static/static-tokenizer.ts";

/** Contractions that are words of their own; any other possessive is looked up without its ending. */
const CONTRACTED = /^(it|that|what|let|here|there|he|she|who|where|how|when|why|everyone|one)'s$/;
const SHORT_MIX = 8;
const LONGEST_NUMBER = 4;
const LONGEST_WORD = 24;

/** Counts the words of texts as the tokenizer splits them; `known` words are never split further. */
export function countWords(texts: Iterable<string>, known: ReadonlySet<string>): Map<string, number> {
  const counts = new Map<string, number>();
  const source: TokenSource = {
    find(units, start, end, atomic) {
      const word = String.fromCharCode(...units.subarray(start, end));
      if (word.endsWith("'s") && !CONTRACTED.test(word)) return -1;
      if (word.length > LONGEST_WORD) return -1;
      if (!atomic && !known.has(word) && (word.length > SHORT_MIX || !/[0-9]/.test(word))) return -1;
      counts.set(word, (counts.get(word) ?? 0) + 1);
      return atomic || known.has(word) ? 0 : -1;
    },
    piece: () => 0,
  };
  const tokenize = createTokenizer(source);
  for (const text of texts) tokenize(text);
  return counts;
}

/** Selects the words that get a row: every known word the tokenizer can produce, then the most frequent others. */
export function chooseWords(
  counts: ReadonlyMap<string, number>,
  known: readonly string[],
  most: number,
): string[] {
  const producible = known.filter(isProducible);
  const chosen = new Set(producible);
  const others = [...counts]
    .filter(([word, count]) => !chosen.has(word) && count >= leastCount(word))
    .sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
  for (const [word] of others) {
    if (chosen.size >= most) break;
    chosen.add(word);
  }
  return [...chosen].sort(
    (left, right) => (counts.get(right) ?? 0) - (counts.get(left) ?? 0) || (left < right ? -1 : 1),
  );
}

function isProducible(word: string): boolean {
  return word.length <= LONGEST_WORD && /^[\p{L}\p{N}]+('[a-z]+)?$/u.test(word) && !/^[0-9]{5,}$/.test(word);
}

function leastCount(word: string): number {
  if (/^[0-9]+$/.test(word)) return word.length > LONGEST_NUMBER ? Number.POSITIVE_INFINITY : 3;
  return /^[a-z]+[0-9]|^[0-9]+[a-z]/.test(word) ? 5 : 2;
}
