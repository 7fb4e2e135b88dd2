import { scanIdentifiers } from "../../window/extract/scan-identifiers.ts";
import { collectActions } from "./actions.ts";
import { collectFileStates } from "./file-state.ts";
import { findRecentIdentifiers } from "./recent-identifiers.ts";
import type { SourceMessage } from "./source-message.ts";
import type { UserRequest } from "./user-request.ts";

const LAST_MESSAGES = 12;
const MIN_TIMES = 2;
const MAX_NAMED = 10;
const MAX_ASKED = 6;
const MAX_CHANGED = 6;
const ASK_LENGTH = 1_000;

/**
 * The identifiers that a summary must contain literally: names that recur in the last turns, files they changed, and
 * names in pending requests.
 */
export function findKeyIdentifiers(
  messages: readonly SourceMessage[],
  pending: readonly UserRequest[],
): readonly string[] {
  const named = findRecentIdentifiers(messages, LAST_MESSAGES)
    .filter(({ identifier, times }) => times >= MIN_TIMES && !/^\d{1,6}$/.test(identifier))
    .slice(0, MAX_NAMED)
    .map(({ identifier }) => identifier);
  const changed = collectFileStates(collectActions(messages.slice(-LAST_MESSAGES)))
    .filter(({ changes }) => changes > 0)
    .slice(-MAX_CHANGED)
    .map(({ path }) => path);
  const asked = new Set<string>();
  for (const { text } of pending)
    scanIdentifiers(text.slice(0, ASK_LENGTH), false, (name) => asked.add(name));
  return [...new Set([...named, ...changed, ...[...asked].slice(0, MAX_ASKED)])];
}

/** True if a text contains an identifier; a path may lack its beginning as long as two segments remain. */
export function hasIdentifier(text: string, identifier: string): boolean {
  if (text.includes(identifier)) return true;
  const steps = identifier.split("/").filter(Boolean);
  for (let from = 1; from <= steps.length - 2; from++)
    if (text.includes(steps.slice(from).join("/"))) return true;
  return false;
}
