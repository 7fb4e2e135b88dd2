import type { ByteRange } from "../request/cut-body.ts";

/** A replacement of a range of bytes, in one or more pieces. */
export interface ByteChange {
  readonly range: ByteRange;
  readonly bytes: Uint8Array | readonly Uint8Array[];
}

/**
 * A body with changes, as pieces to be sent in order; the unchanged pieces are slices of the original. Throws
 * RangeError if changes overlap.
 */
export function spliceBody(body: Buffer, changes: readonly ByteChange[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { range, bytes } of changes.toSorted((one, other) => one.range.from - other.range.from)) {
    if (range.from < at) throw new RangeError(`changes overlap at byte ${range.from}`);
    if (range.from > at) pieces.push(body.subarray(at, range.from));
    if (!(bytes instanceof Uint8Array)) for (const one of bytes) pieces.push(one);
    else if (bytes.length > 0) pieces.push(bytes);
    at = range.to;
  }
  if (at < body.length) pieces.push(body.subarray(at));
  return pieces;
}

/** Total bytes of all pieces. */
export function countBytes(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** True if two bodies in pieces have the same bytes. */
export function isSameBody(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  if (countBytes(one) !== countBytes(other)) return false;
  let [index, at] = [0, 0];
  // Compares in place, because a joined copy would be as large as the request.
  for (const piece of one) {
    for (let from = 0; from < piece.length; ) {
      const beside = other[index];
      if (!beside) return false;
      const length = Math.min(piece.length - from, beside.length - at);
      if (Buffer.compare(piece.subarray(from, from + length), beside.subarray(at, at + length)) !== 0)
        return false;
      from += length;
      at += length;
      if (at < beside.length) continue;
      index++;
      at = 0;
    }
  }
  return true;
}
