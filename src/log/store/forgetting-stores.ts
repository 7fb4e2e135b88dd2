import type { SessionId } from "../../model/entry.ts";
import type { EntryStore } from "./entry-store.ts";
import type { FreedCounts } from "./freed-counts.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./session-store.ts";

/** The part of an index that forgets erased content. */
export interface ForgettingMemory extends Pick<MemoryStore, "expectErasure" | "forget" | "settleErasure"> {
  /** False if nothing was ever indexed, so there is nothing to forget. */
  readonly exists: boolean;
  /** Removes forgotten content from journals; false if a reader prevented that. */
  scrub(): Promise<boolean>;
}

/** Wraps entries so that a redaction also removes their chunks from the index. */
export function withEntryForgetting(entries: EntryStore, memory: ForgettingMemory): EntryStore {
  const { peekHead } = entries;
  return {
    ...(peekHead && { peekHead: (session) => peekHead.call(entries, session) }),
    append: (requests) => entries.append(requests),
    get: (session, seq) => entries.get(session, seq),
    read: (session, query) => entries.read(session, query),
    head: (session) => entries.head(session),
    heads: (query) => entries.heads(query),
    version: () => entries.version(),
    seqAt: (session, at) => entries.seqAt(session, at),
    redact: (session, tombstones) => {
      const seqs = tombstones.map(({ seq }) => seq);
      return eraseAndForget(memory, session, seqs, () => entries.redact(session, tombstones));
    },
  };
}

/** Wraps sessions so that a deletion also removes their chunks from the index. */
export function withSessionForgetting(sessions: SessionStore, memory: ForgettingMemory): SessionStore {
  const { readable, peek } = sessions;
  return {
    ...(readable && { readable: (ids, owners) => readable.call(sessions, ids, owners) }),
    ...(peek && { peek: (id) => peek.call(sessions, id) }),
    open: (session) => sessions.open(session),
    get: (id) => sessions.get(id),
    list: (query) => sessions.list(query),
    update: (id, change) => sessions.update(id, change),
    sizes: () => sessions.sizes(),
    delete: (id) => eraseAndForget(memory, id, undefined, () => sessions.delete(id)),
  };
}

/**
 * Records the erasure, erases, and forgets. A failing index must not block the log: leftovers are found through the
 * record, and recall shows no chunk whose entry is gone.
 */
async function eraseAndForget(
  memory: ForgettingMemory,
  session: SessionId,
  seqs: readonly number[] | undefined,
  erase: () => Promise<FreedCounts>,
): Promise<FreedCounts> {
  if (!memory.exists) return erase();
  await memory.expectErasure(session, seqs).catch(() => undefined);
  const freed = await erase();
  try {
    await memory.forget({ kind: "session", name: session }, seqs);
    await memory.settleErasure(session, seqs);
    return { ...freed, scrubbed: (await memory.scrub()) && freed.scrubbed };
  } catch {
    // Retried when the index is next used.
    return { ...freed, scrubbed: false };
  }
}
