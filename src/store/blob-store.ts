import type { Digest } from "../model/blob.ts";
import type { Freed } from "./freed.ts";

/** A blob that has just been written. */
export interface WrittenBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** False when identical bytes were there already. */
  readonly created: boolean;
  /** Keeps the blob from being collected until an append names it or it runs out. */
  readonly hold: string;
}

/** Limits of one write. */
export interface BlobWriteOptions {
  /** BLOB_TOO_LARGE, and nothing kept, above this. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** Bytes by digest. Identical bytes are stored once; what nothing refers to can be collected. */
export interface BlobStore {
  write(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BlobWriteOptions,
  ): Promise<WrittenBlob>;
  /** Gives up holds: blobs that nothing refers to go at once, and need not wait for `collect`. */
  release(holds: readonly string[]): Promise<void>;
  /** The bytes, unverified; BLOB_NOT_FOUND on the first read if there are none. */
  read(digest: Digest): AsyncIterable<Uint8Array>;
  /** Size of a blob, or undefined if there is none. */
  sizeOf(digest: Digest): Promise<number | undefined>;
  /** Removes what nothing refers to and nobody holds, and what crashed writers left behind; others may append meanwhile. */
  collect(): Promise<Freed>;
}
