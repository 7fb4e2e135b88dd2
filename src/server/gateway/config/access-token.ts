import { randomBytes } from "node:crypto";

/** Minimum strength of a token, in bits. */
export const MIN_TOKEN_BITS = 128;
const MIN_DISTINCT_CHARACTERS = 8;

/** A random token of 256 bits. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** A word that people choose is one of about 65,000. */
const WORD_BITS = 16;

/**
 * Upper bound on the strength of a token in bits, by its length and alphabet; 0 if it has too few distinct characters.
 * Repetitions count once, and words count as words.
 */
export function estimateTokenBits(given: string): number {
  const token = given.slice(0, findPeriod(given));
  if (new Set(token).size < MIN_DISTINCT_CHARACTERS) return 0;
  if (/^[A-Z]?[a-z]+(?:[-_. ][A-Z]?[a-z]+)+$/.test(token))
    return new Set(token.toLowerCase().split(/[-_. ]/)).size * WORD_BITS;
  const alphabets: readonly (readonly [RegExp, number])[] = [
    [/^\d+$/, 10],
    [/^[\da-f]+$/i, 16],
    [/^[a-z]+$|^[A-Z]+$/, 26],
    [/^[a-z\d]+$|^[A-Z\d]+$/, 36],
    [/./, 64],
  ];
  const letters = alphabets.find(([pattern]) => pattern.test(token))?.[1] ?? 64;
  return token.length * Math.log2(letters);
}

/** The length of the shortest beginning that a text repeats at least once; that of the text if there is none. */
function findPeriod(text: string): number {
  for (let period = 1; period <= text.length / 2; period++)
    if (text.slice(period) === text.slice(0, text.length - period)) return period;
  return text.length;
}
