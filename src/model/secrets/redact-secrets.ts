import { codesOf } from "../text-codes.ts";
import { findAssigned } from "./find-assigned.ts";
import { findInContext } from "./find-in-context.ts";
import { findPrefixed } from "./find-prefixed.ts";
import { findPrivateKeys } from "./find-private-keys.ts";
import { type FoundSecret, joinOverlapping, REDACTION_MARK } from "./found-secret.ts";

/** A text without its secrets. */
export interface RedactedText {
  readonly text: string;
  /** The kind of each redacted secret. */
  readonly found: readonly string[];
}

/** Redaction may uncover an adjacent secret; no text needs more rounds. */
const MAX_ROUNDS = 4;
/** A text with more secrets than this is probably hostile and gets no further round. */
const MAX_FOUND_BEFORE_ROUND = 1_000;

/**
 * Replaces each secret of a known kind with "[redacted:kind]", in linear time. Redacting the result again changes
 * nothing, unless the text had more than 1,000 secrets. Hashes, ids, images and code stay unchanged, and so does a
 * secret of unknown form without a telling name.
 */
export function redactSecrets(text: string): RedactedText {
  let redacted: RedactedText = { text, found: [] };
  for (let round = 0; round < MAX_ROUNDS && redacted.found.length <= MAX_FOUND_BEFORE_ROUND; round++) {
    const found = findSecrets(redacted.text);
    if (found.length === 0) break;
    redacted = {
      text: replaceSecrets(redacted.text, found),
      found: redacted.found.concat(found.map(({ kind }) => kind)),
    };
  }
  return redacted;
}

/** The secrets of a text in order, without overlaps. */
export function findSecrets(text: string): readonly FoundSecret[] {
  if (text.length < 12) return [];
  const codes = codesOf(text);
  return joinOverlapping(
    findPrefixed(text, codes).concat(
      findPrivateKeys(text),
      findInContext(text, codes),
      findAssigned(text, codes),
    ),
  );
}

function replaceSecrets(text: string, found: readonly FoundSecret[]): string {
  let at = 0;
  let left = "";
  for (const { kind, from, to } of found) {
    left += `${text.slice(at, from)}${REDACTION_MARK}${kind}]`;
    at = to;
  }
  return left + text.slice(at);
}
