import { isDeepStrictEqual } from "node:util";
import type { SessionRecord } from "../../store/session-store.ts";
import { findMemoryAgent } from "../memories/remembered-fact.ts";
import type { MemoryScope } from "../memory-scope.ts";

/**
 * True if an agent may see a session: always for its own memories, never for those of others, otherwise by the scope.
 */
export function isSessionInScope(
  { id, meta }: Pick<SessionRecord, "id" | "meta">,
  agent: string,
  scope: MemoryScope | undefined,
): boolean {
  const owner = findMemoryAgent(id);
  if (owner !== undefined) return owner === agent;
  if (scope === undefined) return true;
  if (!scope.sessions && scope.prefix === undefined && !scope.meta) return false;
  return (
    (scope.sessions?.includes(id) ?? true) &&
    id.startsWith(scope.prefix ?? "") &&
    Object.entries(scope.meta ?? {}).every(([key, value]) => isDeepStrictEqual(meta?.[key], value))
  );
}
