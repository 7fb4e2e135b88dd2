import { randomBytes } from "node:crypto";

/** Minimum strength of a token, in bits. */
export const TOKEN_BITS = 128;
const LEAST_LETTERS = 8;

/** A random token of 256 bits. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Upper bound on the strength of a token in bits, by its length and alphabet; 0 if it has too few distinct characters.
 */
export function tokenBits(token: string): number {
  if (new Set(token).size < LEAST_LETTERS) return 0;
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
