import { hash } from "node:crypto";

/** The SHA-256 of text or bytes in hexadecimal digits: all 64, or the first `digits`. */
export function computeDigest(data: string | Uint8Array, digits = 64): string {
  return hash("sha256", data).slice(0, digits);
}

/** A short name for a text, by which it is recognized: 6 bits of its SHA-256 per character. */
export function computeFingerprint(text: string | Uint8Array, characters = 16): string {
  return hash("sha256", text, "base64url").slice(0, characters);
}
