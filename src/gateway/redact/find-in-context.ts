import { CONTEXT_SECRETS } from "./context-secrets.ts";
import { type FoundSecret, MARK } from "./found-secret.ts";

/** Finds secrets by what stands around them. */
export function findInContext(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const { kind, hints, pattern, isSecret } of CONTEXT_SECRETS) {
    if (!hints.some((hint) => text.includes(hint))) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.groups?.secret;
      const at = match.indices?.groups?.secret;
      if (!secret || !at || match[0].includes(MARK)) continue;
      if (isSecret && !isSecret(secret)) continue;
      found.push({ kind, from: at[0], to: at[1], isCertain: false });
    }
  }
  return found;
}
