import { definedFields, objectOf, textOf } from "../content/fields.ts";
import type { Leftovers } from "../content/leftovers.ts";

/** What OpenClaw's list of sessions says of one. */
export interface RegisteredSession {
  /** Names the conversation over all its sessions, like `agent:main:main`. */
  readonly key: string;
  readonly entry: Leftovers;
  readonly title?: string;
  /** Session id of the one that started it. */
  readonly parent?: string;
}

/** The sessions of a list by session id. */
export function sessionsOf(
  list: Iterable<readonly [key: string, entry: unknown]>,
): Map<string, RegisteredSession> {
  const entries = new Map<string, Leftovers>();
  for (const [key, value] of list) {
    const entry = objectOf(value);
    if (entry && textOf(entry.sessionId) !== undefined) entries.set(key, entry as Leftovers);
  }
  const sessions = new Map<string, RegisteredSession>();
  for (const [key, entry] of entries) {
    const parent = textOf(entries.get(textOf(entry.spawnedBy) ?? "")?.sessionId);
    const title = textOf(entry.displayName) ?? textOf(entry.label) ?? textOf(entry.subject);
    const id = textOf(entry.sessionId) as string;
    sessions.set(id, { key, entry, ...definedFields({ title, parent: parent === id ? undefined : parent }) });
  }
  return sessions;
}
