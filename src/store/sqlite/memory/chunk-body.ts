import { packTerms, unpackTerms } from "../../term-list.ts";

const HASH_BYTES = 16;

/** Hash and terms of a chunk in one: reading a row costs by its columns, and by its blobs most. */
export function packBody(hash: Uint8Array, terms: ArrayLike<number>): Uint8Array {
  const packed = packTerms(terms);
  const body = new Uint8Array(HASH_BYTES + packed.length);
  body.set(hash.subarray(0, HASH_BYTES));
  body.set(packed, HASH_BYTES);
  return body;
}

/** The hash in a body. */
export function hashOfBody(body: Uint8Array): Uint8Array {
  return body.subarray(0, HASH_BYTES);
}

/** The term numbers in a body. */
export function termsOfBody(body: Uint8Array): Uint32Array {
  return unpackTerms(body.subarray(HASH_BYTES));
}
