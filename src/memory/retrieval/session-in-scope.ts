import { isDeepStrictEqual } from "node:util";
import type { SessionRecord } from "../../store/session-store.ts";
import { agentOfMemories } from "../memories/remembered.ts";
import type { MemoryScope } from "../scope.ts";

/** Tells whether an agent may look at a session: its own memories always, those of others never, the rest by the scope. */
export function isSessionInScope(
  { id, meta }: Pick<SessionRecord, "id" | "meta">,
  agent: string,
  scope: MemoryScope | undefined,
): boolean {
  const owner = agentOfMemories(id);
  if (owner !== undefined) return owner === agent;
  if (scope === undefined) return true;
  if (!scope.sessions && scope.prefix === undefined && !scope.meta) return false;
  return (
    (scope.sessions?.includes(id) ?? true) &&
    id.startsWith(scope.prefix ?? "") &&
    Object.entries(scope.meta ?? {}).every(([key, value]) => isDeepStrictEqual(meta?.[key], value))
  );
}
