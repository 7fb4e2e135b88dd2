import type { MemoryStore, SourceRecord } from "../../log/store/memory-store.ts";
import type { Store } from "../../log/store/store.ts";
import type { SessionId } from "../../model/entry.ts";
import { throwIfAborted } from "../../model/errors.ts";

type IndexedSession = Pick<SourceRecord, "cursor" | "version">;

const PAGE_SOURCES = 1_000;

/** The sessions in the index, with the ends that they are indexed to. */
export async function listIndexedSessions(
  memory: MemoryStore,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<SessionId, IndexedSession>> {
  const indexed = new Map<SessionId, IndexedSession>();
  for (let after = 0; ; ) {
    throwIfAborted(signal);
    const page = await memory.sources({ kind: "session", after, limit: PAGE_SOURCES });
    for (const { name, cursor, version } of page) indexed.set(name, { cursor, version });
    if (page.length < PAGE_SOURCES) return indexed;
    after = page.at(-1)?.number ?? after;
  }
}

/** Removes sessions from the index that are no longer in the log, as after a restored backup. */
export async function forgetGoneSessions(
  { memory, sessions }: Pick<Store, "memory" | "sessions">,
  indexed: Iterable<SessionId>,
  living: ReadonlySet<SessionId>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const name of indexed) {
    throwIfAborted(signal);
    if (!living.has(name) && !(await sessions.get(name))) await memory.forget({ kind: "session", name });
  }
}
