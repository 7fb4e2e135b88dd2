import type { BlobStore } from "./blob-store.ts";
import type { DraftStore } from "./draft-store.ts";
import type { EntryStore } from "./entry-store.ts";
import type { SessionStore } from "./session-store.ts";

/** What a deletion gave back. */
export interface Freed {
  readonly sessions: number;
  readonly entries: number;
  readonly payloadBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
  /** False when someone else was reading, so that old pages still lie in a journal until it is next emptied. */
  readonly scrubbed: boolean;
}

/** Nothing freed: where sums begin. */
export const NOTHING_FREED: Freed = {
  sessions: 0,
  entries: 0,
  payloadBytes: 0,
  blobs: 0,
  blobBytes: 0,
  scrubbed: true,
};

/** The sum of two reports. */
export function addFreed(a: Freed, b: Freed): Freed {
  return {
    sessions: a.sessions + b.sessions,
    entries: a.entries + b.entries,
    payloadBytes: a.payloadBytes + b.payloadBytes,
    blobs: a.blobs + b.blobs,
    blobBytes: a.blobBytes + b.blobBytes,
    scrubbed: a.scrubbed && b.scrubbed,
  };
}

/**
 * Where sessions live. Every call is atomic and durable when its promise resolves; several processes may use one store
 * at once. Failures are LonghaulErrors and leave everything as it was. `storeSuite` in longhaul/testing is the contract.
 */
export interface Store {
  readonly sessions: SessionStore;
  readonly entries: EntryStore;
  readonly drafts: DraftStore;
  readonly blobs: BlobStore;
  /**
   * Calls `listener` after entries were committed, by this process or any other, possibly late or once for several
   * commits, possibly without cause. Returns the function that ends it.
   */
  onCommit(listener: () => void): () => void;
  /** Bytes this store takes on disk. */
  size(): Promise<StoreSize>;
  /** Gives space that deletions left unused back to the file system; may take long on a large store. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Idempotent; open calls finish first. */
  close(): Promise<void>;
}

/** Bytes on disk, by what they hold. */
export interface StoreSize {
  readonly logBytes: number;
  readonly blobBytes: number;
}
