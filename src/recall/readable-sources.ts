import type { SourceRecord } from "../log/store/memory-store.ts";
import type { Store } from "../log/store/store.ts";
import type { SessionId } from "../model/entry.ts";
import { hasScopeOwner, type MemoryScope } from "./memory-scope.ts";

/**
 * The sessions among sources that the owners of a scope may read; undefined if the scope names none. Decided twice: here
 * by their ids, and by the policies of a store that has them, so that neither a wrong filter nor a wrong statement can
 * return content of others.
 */
export async function findReadable(
  { sessions }: Pick<Store, "sessions">,
  sources: Iterable<SourceRecord>,
  scope: MemoryScope | undefined,
): Promise<ReadonlySet<SessionId> | undefined> {
  if (!scope?.owners) return undefined;
  const own = [...sources].filter(({ kind, name }) => kind === "session" && hasScopeOwner(scope, name));
  const ids = own.map(({ name }) => name);
  return (await sessions.readable?.(ids, scope.owners)) ?? new Set(ids);
}
