import type { BlobStore } from "./blob-store.ts";
import type { DraftStore } from "./draft-store.ts";
import type { EntryStore } from "./entry-store.ts";
import type { IntakeStore } from "./intake-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * Where sessions live. Every call is atomic and durable when its promise resolves; several processes may use one store
 * at once. Failures are LonghaulErrors and leave everything as it was. `storeSuite` in longhaul/testing is the contract.
 */
export interface Store {
  readonly sessions: SessionStore;
  readonly entries: EntryStore;
  readonly drafts: DraftStore;
  readonly blobs: BlobStore;
  readonly intakes: IntakeStore;
  readonly leases: LeaseStore;
  readonly tasks: TaskStore;
  /** The index over what was said; made from the rest, and made anew when it is lost. */
  readonly memory: MemoryStore;
  /**
   * Calls `listener` after entries were committed or a session was deleted, by this process or any other, possibly late
   * or once for several commits, possibly without cause. Returns the function that ends it.
   */
  onCommit(listener: () => void): () => void;
  /** Bytes this store takes on disk. */
  size(): Promise<StoreSize>;
  /** Writes something and takes it away again; rejects if the store cannot be written, or its files are gone. */
  probe?(): Promise<void>;
  /** Looks through the store's own structure; says what is damaged, nothing if it is whole. May take long. */
  verify?(): Promise<readonly string[]>;
  /** Gives space that deletions left unused back to the file system; may take long on a large store. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Idempotent; open calls finish first. */
  close(): Promise<void>;
}

/** Bytes on disk, by what they hold. */
export interface StoreSize {
  readonly logBytes: number;
  readonly blobBytes: number;
  readonly memoryBytes: number;
}
