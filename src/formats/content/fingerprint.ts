import { createHash } from "node:crypto";

/** A short fingerprint of a text, to tell whether it was seen before or has changed since. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
