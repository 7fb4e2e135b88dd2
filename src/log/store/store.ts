import type { Digest } from "../../model/blob.ts";
import type { AuditStore } from "./audit-store.ts";
import type { BlobStore } from "./blob-store.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { DraftStore } from "./draft-store.ts";
import type { EntryStore } from "./entry-store.ts";
import type { IntakeStore } from "./intake-store.ts";
import type { Lease, LeaseStore } from "./lease-store.ts";
import type { LedgerStore } from "./ledger-store.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { PeopleStore } from "./people-store.ts";
import type { PlaceStore } from "./place-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { SharedStateStore } from "./shared-state-store.ts";
import type { TaskDelivery } from "./task-delivery.ts";
import type { TaskStore } from "./task-store.ts";
import type { TransferStore } from "./transfer-store.ts";

/**
 * Storage of sessions. Every call is atomic, and durable when its promise resolves; several processes may share a
 * store. Failures are LonghaulErrors and change nothing. `storeSuite` in longhaul/testing is the contract.
 */
export interface Store {
  readonly sessions: SessionStore;
  readonly entries: EntryStore;
  readonly places: PlaceStore;
  readonly drafts: DraftStore;
  readonly blobs: BlobStore;
  readonly intakes: IntakeStore;
  readonly leases: LeaseStore;
  readonly ledger: LedgerStore;
  readonly tasks: TaskStore;
  /** Delivers tasks to workers on several machines; without it, workers look for tasks themselves. */
  readonly delivery?: TaskDelivery;
  readonly people: PeopleStore;
  readonly budgets: BudgetStore;
  readonly audit: AuditStore;
  /** The search index, which is derived from the rest and rebuilt when lost. */
  readonly memory: MemoryStore;
  /** States that gateways on several machines share; absent for a store of one machine. */
  readonly sharedStates?: SharedStateStore;
  /** Copies parts of a store that is moved to another one. */
  readonly transfer?: TransferStore;
  /**
   * Calls `listener` after this or any other process has committed entries or deleted a session, possibly late, once
   * for several commits, or spuriously. Returns a function that removes the listener.
   */
  onCommit(listener: () => void): () => void;
  size(): Promise<StoreSize>;
  /** Writes and removes a probe; rejects if the store cannot be written or its files are gone. */
  probe?(): Promise<void>;
  /** Checks the store's internal structure and returns the problems found; may take long. */
  verify?(): Promise<readonly string[]>;
  /** Moves the write-ahead log into the database and empties it; false if a reader prevented that. */
  checkpoint?(): Promise<boolean>;
  /** Size of the write-ahead logs. */
  journalBytes?(): Promise<number>;
  /** Approximate bytes of caches in memory. */
  cacheBytes?(): number;
  /** Empties the caches in memory. */
  dropCaches?(): void;
  /** Describes the store's files; reads no content. */
  inspect?(): Promise<StoreInspection>;
  /** Searches the files of the store for texts of erased content. */
  searchFiles?(texts: readonly string[]): Promise<FileSearch>;
  /** Returns space of deleted content to the file system; may take long on a large store. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Idempotent; waits for open calls. */
  close(): Promise<void>;
}

/** The result of a search in files. */
export interface FileSearch {
  /** Names of the tables whose files hold one of the texts. */
  readonly found: readonly string[];
  /** Why some files could not be read. */
  readonly unread?: string;
}

/** The state of a store's files. */
export interface StoreInspection {
  /** The server of a database and its version; undefined for a store of files. */
  readonly server?: string;
  readonly schemaVersion: number;
  /** Size of the write-ahead logs of log and index. */
  readonly journalBytes: number;
  /** Space in the database that deleted content has left; a vacuum returns it. */
  readonly freeBytes: number;
  readonly blobs: number;
  /** Blobs without a file, or with a file of another size; at most 1,000. */
  readonly missingBlobs: readonly Digest[];
  /** Leases that ended, whose owners have not returned them. */
  readonly expiredLeases: readonly Lease[];
  /** Unfinished messages, those of living writers included. */
  readonly drafts: number;
  /** Problems of the index database; the index is derived and can be rebuilt. */
  readonly indexProblems: readonly string[];
}

/** Bytes on disk, by content. */
export interface StoreSize {
  readonly logBytes: number;
  readonly blobBytes: number;
  readonly memoryBytes: number;
}
