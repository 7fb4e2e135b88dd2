import { CONTEXT_SECRETS } from "./context-secrets.ts";
import { type FoundSecret, MARK } from "./found-secret.ts";

/** Finds secrets by their context. */
export function findInContext(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const { kind, hints, pattern, isSecret } of CONTEXT_SECRETS) {
    if (!hints.some((hint) => text.includes(hint))) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.groups?.secret;
      if (!secret || match[0].includes(MARK) || (isSecret && !isSecret(secret))) continue;
      // The `d` flag would run the pattern a second time.
      const from = match.index + match[0].lastIndexOf(secret);
      found.push({ kind, from, to: from + secret.length, isCertain: false });
    }
  }
  return found;
}
