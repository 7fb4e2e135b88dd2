import { hash } from "node:crypto";

const HASH_BYTES = 16;

/** The hash that identifies a text in the embedding cache. */
export function hashChunkText(text: string): Uint8Array {
  return hash("sha256", text, "buffer").subarray(0, HASH_BYTES);
}
