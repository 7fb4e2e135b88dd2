import { hash } from "node:crypto";

/** The SHA-256 of text or bytes in hexadecimal digits: all 64, or the first `digits`. */
export function computeDigest(data: string | Uint8Array, digits = 64): string {
  return hash("sha256", data).slice(0, digits);
}

/** Folds 32-bit digests into one, in order; a missing one counts as -1. */
export function rollDigests(digests: readonly number[], count = digests.length): number {
  let rolling = 0;
  for (let index = 0; index < count; index++)
    rolling = (Math.imul(rolling ^ (digests[index] ?? -1), 0x01000193) + 0x9e3779b9) >>> 0;
  return rolling;
}

/** A short name for a text, by which it is recognized: 6 bits of its SHA-256 per character. */
export function computeFingerprint(text: string | Uint8Array, characters = 16): string {
  return hash("sha256", text, "base64url").slice(0, characters);
}
