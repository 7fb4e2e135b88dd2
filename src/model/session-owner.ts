import type { SessionId } from "./entry.ts";

/**
 * The owner of a session: the first part of its id with its slash, such as "@alice/", or the whole id. The policies of a
 * PostgreSQL store decide by the same rule.
 */
export function getSessionOwner(id: SessionId): string {
  const slash = id.indexOf("/");
  return slash < 0 ? id : id.slice(0, slash + 1);
}
