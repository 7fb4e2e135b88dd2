import type { BlobPart, Part } from "../model/part.ts";

/** Loads the contents of parts that are stored as blobs. */
export interface PartSource {
  /** Returns the bytes of media as base64. */
  base64(part: BlobPart): Promise<string>;
  /** Restores a part that is stored as a blob; returns other parts unchanged. */
  restore(part: Part): Promise<Part>;
}
