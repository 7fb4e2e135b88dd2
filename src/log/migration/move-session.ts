import type { Digest } from "../../model/blob.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError, LonghaulError, throwIfAborted } from "../../model/errors.ts";
import { findBodyBlobs } from "../blobs.ts";
import { decodeStoredBody } from "../entry-body.ts";
import type { NewEntry, StoredEntry } from "../store/entry-store.ts";
import type { SessionRecord } from "../store/session-store.ts";
import type { Store } from "../store/store.ts";

const ENTRIES_PER_STEP = 256;
const MAX_STEP_BYTES = 4 * 1024 * 1024;

/** Copies sessions with their entries, blobs and drafts, except those that the target has already. */
export class SessionMover {
  readonly damagedBlobs: Digest[] = [];
  copiedEntries = 0;
  copiedBlobs = 0;
  readonly #from: Store;
  readonly #to: Store;
  readonly #signal: AbortSignal | undefined;

  constructor(from: Store, to: Store, signal: AbortSignal | undefined) {
    this.#from = from;
    this.#to = to;
    this.#signal = signal;
  }

  /** Copies a session up to a seq. */
  async move(id: SessionId, head: number, onStep: (copiedEntries: number) => void): Promise<void> {
    const record = await this.#from.sessions.get(id);
    // Deleted since the list was read.
    if (!record) return;
    const { lineSeq: _, ...session } = record;
    const opened = await this.#to.sessions.open(session);
    await this.#update(opened.record, record);
    let { seq } = await this.#to.entries.head(id);
    while (seq < head) {
      throwIfAborted(this.#signal);
      const page = await this.#readPage(id, seq + 1, head);
      if (page.length === 0) return;
      await this.#append(id, seq, page);
      seq += page.length;
      this.copiedEntries += page.length;
      onStep(this.copiedEntries);
    }
    await this.#to.places.put(await this.#from.places.ofSession(id));
    await this.#moveDrafts(id);
  }

  async #update(there: SessionRecord, here: SessionRecord): Promise<void> {
    const change = {
      ...(here.title !== undefined && here.title !== there.title && { title: here.title }),
      ...(here.meta !== undefined &&
        JSON.stringify(here.meta) !== JSON.stringify(there.meta) && { meta: here.meta }),
    };
    if (Object.keys(change).length > 0) await this.#to.sessions.update(here.id, change);
  }

  /** Consecutive entries from a seq on, of limited size together. */
  async #readPage(id: SessionId, from: number, to: number): Promise<readonly StoredEntry[]> {
    const query = { from, to, limit: ENTRIES_PER_STEP, order: "ascending" } as const;
    const page = await this.#from.entries.read(id, query);
    let bytes = 0;
    const end = page.findIndex((entry, index) => {
      bytes += entry.payload.byteLength;
      return entry.seq !== from + index || (index > 0 && bytes > MAX_STEP_BYTES);
    });
    if (end === 0) {
      throw new LonghaulError(
        "STORE_CORRUPT",
        `Entry ${from} of session ${JSON.stringify(id)} is missing in the source; "longhaul repair" copies everything readable into a new store, which can be moved.`,
        { details: { session: id, seq: from } },
      );
    }
    return end === -1 ? page : page.slice(0, end);
  }

  async #append(session: SessionId, expectedHead: number, page: readonly StoredEntry[]): Promise<void> {
    const holds: string[] = [];
    const entries: NewEntry[] = [];
    for (const { kind, at, payload } of page) {
      const blobs = await this.#moveBlobs(findBlobs({ kind, payload }), holds);
      entries.push({ kind, at, payload, ...(blobs.length > 0 && { blobs }) });
    }
    const [outcome] = await this.#to.entries.append([{ session, expectedHead, entries, holds }]);
    if (outcome instanceof Error) throw outcome;
  }

  async #moveDrafts(session: SessionId): Promise<void> {
    const drafts = await this.#from.drafts.list(session);
    const ids = new Set(drafts.map(({ id }) => id));
    // Finished in the source since an earlier run: left here, its text would come back as an interrupted message.
    for (const { id } of await this.#to.drafts.list(session))
      if (!ids.has(id)) await this.#to.drafts.delete(id);
    for (const draft of drafts) {
      const holds: string[] = [];
      const blobs = await this.#moveBlobs(findBlobs({ kind: "message", payload: draft.payload }), holds);
      await this.#to.drafts.write({ ...draft, blobs, holds });
    }
  }

  /** Copies blobs under holds and returns those that the target has now. */
  async #moveBlobs(digests: readonly Digest[], holds: string[]): Promise<readonly Digest[]> {
    const moved: Digest[] = [];
    for (const digest of digests) if (await this.#moveBlob(digest, holds)) moved.push(digest);
    return moved;
  }

  async #moveBlob(digest: Digest, holds: string[]): Promise<boolean> {
    const size = await this.#from.blobs.sizeOf(digest);
    try {
      if (size !== undefined) {
        const options = {
          maxBytes: Number.MAX_SAFE_INTEGER,
          ...(this.#signal && { signal: this.#signal }),
        };
        // Written again where it exists, which costs a read and holds it until the append.
        const written = await this.#to.blobs.write(this.#from.blobs.read(digest), options);
        holds.push(written.hold);
        if (written.created) this.copiedBlobs++;
        if (written.digest === digest) return true;
      }
    } catch (error) {
      if (!isLonghaulError(error, "BLOB_NOT_FOUND")) throw error;
    }
    if (!this.damagedBlobs.includes(digest)) this.damagedBlobs.push(digest);
    return false;
  }
}

function findBlobs(stored: Pick<StoredEntry, "kind" | "payload">): readonly Digest[] {
  return findBodyBlobs(decodeStoredBody(stored));
}
