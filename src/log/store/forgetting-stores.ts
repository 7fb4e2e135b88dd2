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

/** Makes a redaction of entries and a deletion of sessions also remove their chunks from the index. */
export function forgetErased(
  { entries, sessions }: { readonly entries: EntryStore; readonly sessions: SessionStore },
  memory: ForgettingMemory,
): void {
  const redact = entries.redact.bind(entries);
  entries.redact = (session, tombstones) => {
    const seqs = tombstones.map(({ seq }) => seq);
    return eraseAndForget(memory, session, seqs, () => redact(session, tombstones));
  };
  const remove = sessions.delete.bind(sessions);
  sessions.delete = (id) => eraseAndForget(memory, id, undefined, () => remove(id));
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
