import { checkNames } from "../model/edit-distance.ts";
import { checkWholeNumber } from "../model/errors.ts";

/** Limits of a kernel; every cache, queue and buffer takes its size from here. */
export interface Limits {
  /** Larger parts are moved from the log to a blob. */
  readonly spillBytes: number;
  /** Largest blob that may be stored. */
  readonly maxBlobBytes: number;
  /** Largest blob that may be loaded whole; larger ones are streamed. */
  readonly maxReadBytes: number;
  /** Largest entry, without blobs. */
  readonly maxEntryBytes: number;
  /** Maximum messages of one `appendAll`. */
  readonly maxBatch: number;
  /** Bytes of appends in the commit queue; further appends wait outside. */
  readonly maxQueuedBytes: number;
  /** Size and age limit of the blob cache. */
  readonly blobCacheBytes: number;
  readonly blobCacheAgeMs: number;
  /** Vectors kept loaded for recall; others are read for each recall. */
  readonly maxVectorBytes: number;
  /** Least time between two writes of a draft. */
  readonly draftIntervalMs: number;
  /** Limits of unconfirmed edits: number, size and age. */
  readonly maxPendingEdits: number;
  readonly maxPendingEditBytes: number;
  readonly pendingEditMs: number;
}

const DEFAULT_LIMITS: Limits = {
  spillBytes: 64 * 1024,
  maxBlobBytes: 512 * 1024 * 1024,
  maxReadBytes: 20 * 1024 * 1024,
  maxEntryBytes: 4 * 1024 * 1024,
  maxBatch: 10_000,
  maxQueuedBytes: 8 * 1024 * 1024,
  blobCacheBytes: 32 * 1024 * 1024,
  blobCacheAgeMs: 5 * 60 * 1000,
  maxVectorBytes: 256 * 1024 * 1024,
  draftIntervalMs: 1_000,
  maxPendingEdits: 16,
  maxPendingEditBytes: 4 * 1024 * 1024,
  pendingEditMs: 30_000,
};

/** The defaults merged with `changes`, checked. */
export function resolveLimits(changes: Partial<Limits> = {}): Limits {
  checkNames("limits", changes, Object.keys(DEFAULT_LIMITS));
  const limits = { ...DEFAULT_LIMITS, ...changes };
  for (const [name, value] of Object.entries(limits)) {
    checkWholeNumber(`limits.${name}`, value, name === "blobCacheBytes" ? 0 : 1);
  }
  return limits;
}
