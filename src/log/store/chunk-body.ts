import { packTerms, unpackTerms } from "./term-list.ts";

const HASH_BYTES = 16;

/**
 * Packs a chunk's hash and terms into one blob: the cost of reading a row grows with its
 * columns, most of all with blobs.
 */
export function packBody(hash: Uint8Array, terms: ArrayLike<number>): Uint8Array {
  return packTerms(hash.subarray(0, HASH_BYTES), terms);
}

export function readBodyHash(body: Uint8Array): Uint8Array {
  return body.subarray(0, HASH_BYTES);
}

export function readBodyTerms(body: Uint8Array): Uint32Array {
  return unpackTerms(body.subarray(HASH_BYTES));
}
