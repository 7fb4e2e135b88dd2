/** Room for the numbers of most chunks, used again and again: a new array takes longer than packing. */
const ROOM = new Uint8Array(2_048);

/**
 * Encodes term numbers as varints of seven bits per byte, after the bytes `ahead` of them; common terms have small numbers
 * and take one or two bytes.
 */
export function packTerms(ahead: Uint8Array, terms: ArrayLike<number>): Uint8Array {
  const most = ahead.length + terms.length * 5;
  const bytes = most > ROOM.length ? new Uint8Array(most) : ROOM;
  bytes.set(ahead);
  let at = ahead.length;
  for (let index = 0; index < terms.length; index++) at = putNumber(bytes, at, terms[index] as number);
  return bytes.slice(0, at);
}

/** Decodes the output of `packTerms`. */
export function unpackTerms(bytes: Uint8Array): Uint32Array {
  const terms = new Uint32Array(countNumbers(bytes));
  let at = 0;
  for (let index = 0; index < terms.length; index++) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    terms[index] = value >>> 0;
  }
  return terms;
}

/** Writes an integer below 2^32 as a varint and returns the next position. */
export function putNumber(bytes: Uint8Array, at: number, value: number): number {
  let rest = value >>> 0;
  let place = at;
  while (rest > 127) {
    bytes[place++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[place++] = rest;
  return place;
}

/** The number of varints: each ends with a byte below 128. */
function countNumbers(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if ((bytes[at] as number) < 128) count++;
  return count;
}
