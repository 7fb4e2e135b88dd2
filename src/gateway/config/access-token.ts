import { randomBytes } from "node:crypto";

/** Minimum strength of a token, in bits. */
export const MIN_TOKEN_BITS = 128;
const MIN_DISTINCT_CHARACTERS = 8;

/** A random token of 256 bits. */
export function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Upper bound on the strength of a token in bits, by its length and alphabet; 0 if it has too few distinct characters.
 */
export function estimateTokenBits(token: string): number {
  if (new Set(token).size < MIN_DISTINCT_CHARACTERS) return 0;
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
