import { createHash } from "node:crypto";
import type { SessionId } from "../../model/entry.ts";
import { LonghaulError, throwIfAborted } from "../../model/errors.ts";
import type { StoredEntry, Tombstone } from "../../store/entry-store.ts";
import type { Store } from "../../store/store.ts";

const ENTRIES_PER_STEP = 256;

/** A session that is the same in two stores. */
interface ComparedSession {
  /** SHA-256 over seq, time, kind and payload of all entries of the target. */
  readonly digest: string;
  readonly redacted: number;
}

/**
 * Compares every entry of a session in the target with the source, and redacts entries there that the source has
 * redacted; undefined if the source does not have the session. Throws STORE_FOREIGN at the first difference.
 */
export async function compareSession(
  from: Store,
  to: Store,
  session: SessionId,
  signal: AbortSignal | undefined,
): Promise<ComparedSession | undefined> {
  if (!(await from.sessions.get(session))) return undefined;
  const hash = createHash("sha256");
  const { seq: head } = await to.entries.head(session);
  let redacted = 0;
  for (let next = 1; next <= head; ) {
    throwIfAborted(signal);
    const query = {
      from: next,
      to: Math.min(head, next + ENTRIES_PER_STEP - 1),
      limit: ENTRIES_PER_STEP,
      order: "ascending",
    } as const;
    const [here, there] = [await from.entries.read(session, query), await to.entries.read(session, query)];
    const late: Tombstone[] = [];
    for (let seq = next; seq <= query.to; seq++) {
      const original = here[seq - next];
      const copy = there[seq - next];
      if (original?.seq !== seq || copy?.seq !== seq) throw createDifference(session, seq);
      if (original.kind === "redacted" && copy.kind !== "redacted")
        late.push({ seq, payload: original.payload });
      else if (!isSame(original, copy)) throw createDifference(session, seq);
      hash.update(`${seq} ${original.at} ${original.kind} ${original.payload.byteLength}\n`);
      hash.update(original.payload);
    }
    if (late.length > 0) redacted += (await to.entries.redact(session, late)).entries;
    next = query.to + 1;
  }
  return { digest: hash.digest("hex"), redacted };
}

function isSame(one: StoredEntry, other: StoredEntry): boolean {
  return one.at === other.at && one.kind === other.kind && Buffer.compare(one.payload, other.payload) === 0;
}

function createDifference(session: SessionId, seq: number): LonghaulError {
  return new LonghaulError(
    "STORE_FOREIGN",
    `Entry ${seq} of session ${JSON.stringify(session)} differs between the stores: the target has been written to by itself. Move into a new folder or schema. The source was not changed.`,
    { details: { session, seq } },
  );
}
