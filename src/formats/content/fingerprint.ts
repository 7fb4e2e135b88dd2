import { createHash } from "node:crypto";

/** Hashes a text to 16 characters, to recognize repeats and changes. */
export function fingerprintText(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
