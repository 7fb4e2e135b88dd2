import type { Digest } from "../../model/blob.ts";
import type { FreedCounts } from "./freed-counts.ts";

/** A newly written blob. */
export interface WrittenBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** False if identical bytes were already stored. */
  readonly created: boolean;
  /** Token that keeps the blob from being collected until an append names it or it expires. */
  readonly hold: string;
}

/** Limits of one write. */
export interface BlobWriteOptions {
  /** Larger writes fail with BLOB_TOO_LARGE and store nothing. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** Options of a collection. */
export interface CollectOptions {
  /** Counts and removes nothing. */
  readonly dryRun?: boolean;
  /** Blobs written less than this long ago stay; 0 by default. Temporary files stay for an hour at least. */
  readonly minAgeMs?: number;
}

/** Counts of a collection. */
export interface CollectedBlobs extends FreedCounts {
  /** Files that writers left behind when they crashed. */
  readonly temporaryFiles: number;
  readonly temporaryBytes: number;
}

/** Bytes by digest. Identical bytes are stored once; unreferenced blobs can be collected. */
export interface BlobStore {
  write(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BlobWriteOptions,
  ): Promise<WrittenBlob>;
  /** Releases holds; blobs without references are removed at once instead of waiting for `collect`. */
  release(holds: readonly string[]): Promise<void>;
  /** The unverified bytes; throws BLOB_NOT_FOUND on the first read if the blob does not exist. */
  read(digest: Digest): AsyncIterable<Uint8Array>;
  /** Size of a blob, or undefined if it does not exist. */
  sizeOf(digest: Digest): Promise<number | undefined>;
  /** Removes blobs without references or holds, and files of crashed writers; concurrent appends are safe. */
  collect(options?: CollectOptions): Promise<CollectedBlobs>;
}
