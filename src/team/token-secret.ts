import { randomBytes } from "node:crypto";
import { computeDigest } from "../base/digest.ts";

/** Begins every secret of a person, so that it is recognized and never sent to a provider. */
const SECRET_PREFIX = "lh_";

/** A random secret of 256 bits. */
export function createPersonSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString("base64url");
}

/** True for a text with the form of a person's secret. */
export function isPersonSecret(text: string): boolean {
  return text.startsWith(SECRET_PREFIX);
}

/** The digest under which a secret is stored. 256 random bits need no slow hash. */
export function digestSecret(secret: string): string {
  return computeDigest(secret);
}
