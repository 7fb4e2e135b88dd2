import { randomBytes } from "node:crypto";

/** The least that a token must be worth. */
export const TOKEN_BITS = 128;
const LEAST_LETTERS = 8;

/** A fresh token of 256 bits. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * How hard a token is to guess, at most, in bits: by its length and the alphabet it is made of. Letters that hardly change
 * count as nothing.
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
