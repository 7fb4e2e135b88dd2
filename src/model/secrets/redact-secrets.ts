import { findAssigned } from "./find-assigned.ts";
import { findInContext } from "./find-in-context.ts";
import { findPrefixed } from "./find-prefixed.ts";
import { findPrivateKeys } from "./find-private-keys.ts";
import { type FoundSecret, joinOverlapping, MARK } from "./found-secret.ts";

/** A text without its secrets. */
export interface RedactedText {
  readonly text: string;
  /** The kind of each redacted secret. */
  readonly found: readonly string[];
}

/** Redaction may uncover an adjacent secret; no text needs more rounds. */
const MAX_ROUNDS = 4;

/**
 * Replaces each secret of a known kind by "[redacted:kind]". Runs in linear time and is idempotent. Keeps hashes, ids,
 * pictures and code; also keeps secrets of unknown formats that no name reveals.
 */
export function redactSecrets(text: string): RedactedText {
  let redacted: RedactedText = { text, found: [] };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = findSecrets(redacted.text);
    if (found.length === 0) break;
    redacted = {
      text: replaced(redacted.text, found),
      found: [...redacted.found, ...found.map(({ kind }) => kind)],
    };
  }
  return redacted;
}

/** The secrets of a text in order, without overlaps. */
export function findSecrets(text: string): readonly FoundSecret[] {
  if (text.length < 12) return [];
  return joinOverlapping([
    ...findPrefixed(text),
    ...findPrivateKeys(text),
    ...findInContext(text),
    ...findAssigned(text),
  ]);
}

function replaced(text: string, found: readonly FoundSecret[]): string {
  let at = 0;
  let left = "";
  for (const { kind, from, to } of found) {
    left += `${text.slice(at, from)}${MARK}${kind}]`;
    at = to;
  }
  return left + text.slice(at);
}
