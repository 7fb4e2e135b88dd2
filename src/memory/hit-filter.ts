import type { SourceRecord } from "../store/memory-store.ts";
import type { Store } from "../store/store.ts";
import type { Hit } from "./hit.ts";
import { hasScopeOwner, isIdInScope, type MemoryScope } from "./memory-scope.ts";

/**
 * Decides whether a hit of one of the sources may be returned. Sessions of owners that the scope does not name are
 * refused twice: here by their ids, and by the policies of a store that has them, so that neither a wrong filter nor a
 * wrong statement can return content of others.
 */
export async function buildHitFilter(
  { sessions }: Pick<Store, "sessions">,
  sources: Iterable<SourceRecord>,
  scope: MemoryScope | undefined,
): Promise<(hit: Hit) => boolean> {
  if (!scope) return () => true;
  const isInScope = isIdInScope(scope);
  if (!scope.owners) return (hit) => hit.kind !== "session" || isInScope(hit.session);
  const own = [...sources].filter(({ kind, name }) => kind === "session" && hasScopeOwner(scope, name));
  const ids = own.map(({ name }) => name);
  const readable = (await sessions.readable?.(ids, scope.owners)) ?? new Set(ids);
  return (hit) => hit.kind === "session" && isInScope(hit.session) && readable.has(hit.session);
}
