import { isDeepStrictEqual } from "node:util";
import type { SessionRecord } from "../../log/store/session-store.ts";
import { findMemoryAgent } from "../memories/stored-memory.ts";
import { hasScopePrefix, type MemoryScope, namesSessions } from "../memory-scope.ts";

/**
 * True if an agent may see a session: always for its own memories, for those of others only if the scope names them,
 * otherwise by the scope.
 */
export function isSessionInScope(
  { id, meta }: Pick<SessionRecord, "id" | "meta">,
  agent: string,
  scope: MemoryScope | undefined,
): boolean {
  const owner = findMemoryAgent(id);
  if (owner !== undefined) return owner === agent || (scope?.agents?.includes(owner) ?? false);
  if (scope === undefined) return true;
  if (!namesSessions(scope)) return false;
  return (
    (scope.sessions?.includes(id) ?? true) &&
    hasScopePrefix(scope, id) &&
    Object.entries(scope.meta ?? {}).every(([key, value]) => isDeepStrictEqual(meta?.[key], value))
  );
}
