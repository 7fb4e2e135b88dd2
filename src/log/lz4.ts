/**
 * LZ4 block compression for small payloads. Node's zstd and deflate set up a whole stream for every call, which costs
 * more than compressing 2 KB; this is a third of that and needs no dependency (docs/decisions/0004).
 * The block format is LZ4's own: sequences of literals and back-references of at least four bytes.
 */

const HASH_BITS = 12;
const MIN_MATCH = 4;
/** A block ends with at least five literals, and its last match starts at least twelve bytes before the end. */
const LAST_LITERALS = 5;
const MATCH_START_MARGIN = 12;
/** After this many misses in a row the search takes larger steps: incompressible data is passed over quickly. */
const SKIP_SHIFT = 5;

/** Longest input of one block: positions fit in 16 bits, and so does every distance. */
export const MAX_BLOCK_BYTES = 65_535;

const positions = new Uint16Array(1 << HASH_BITS);

/** Most bytes that `compressBlock` writes for an input of this length. */
export function maxCompressedBytes(sizeBytes: number): number {
  return sizeBytes + Math.ceil(sizeBytes / 255) + 16;
}

/** Compresses the first `size` bytes of `source` into `target` from `start` on; returns where it ended. */
export function compressBlock(source: Uint8Array, size: number, target: Uint8Array, start: number): number {
  const input = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const matchLimit = size - LAST_LITERALS;
  const startLimit = size - MATCH_START_MARGIN;
  positions.fill(0);
  let anchor = 0;
  let out = start;
  let misses = 1 << SKIP_SHIFT;
  // Position 0 doubles as "nothing seen", so the search starts behind it.
  for (let at = 1; at < startLimit; ) {
    const word = input.getInt32(at, true);
    const slot = Math.imul(word, -1640531535) >>> (32 - HASH_BITS);
    const seen = positions[slot] as number;
    positions[slot] = at;
    if (seen === 0 || input.getInt32(seen, true) !== word) {
      at += misses++ >> SKIP_SHIFT;
      continue;
    }
    const length = MIN_MATCH + commonBytes(input, seen + MIN_MATCH, at + MIN_MATCH, matchLimit);
    out = writeSequence(source, anchor, at, at - seen, length, target, out);
    at += length;
    anchor = at;
    misses = 1 << SKIP_SHIFT;
  }
  return writeLiterals(source, anchor, size, target, out, 0);
}

function commonBytes(input: DataView, first: number, second: number, limit: number): number {
  let length = 0;
  while (second + length + 4 <= limit) {
    const difference = input.getInt32(first + length, true) ^ input.getInt32(second + length, true);
    if (difference !== 0) return length + ((31 - Math.clz32(difference & -difference)) >>> 3);
    length += 4;
  }
  while (second + length < limit && input.getUint8(first + length) === input.getUint8(second + length))
    length++;
  return length;
}

function writeSequence(
  source: Uint8Array,
  anchor: number,
  at: number,
  distance: number,
  length: number,
  target: Uint8Array,
  start: number,
): number {
  const extra = length - MIN_MATCH;
  let out = writeLiterals(source, anchor, at, target, start, Math.min(extra, 15));
  target[out++] = distance & 255;
  target[out++] = distance >>> 8;
  return extra < 15 ? out : writeLength(extra - 15, target, out);
}

/** Writes a token with the low half given, then the literals. */
function writeLiterals(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  start: number,
  low: number,
): number {
  const count = to - from;
  let out = start;
  target[out++] = (Math.min(count, 15) << 4) | low;
  if (count >= 15) out = writeLength(count - 15, target, out);
  if (count > 24) {
    target.set(source.subarray(from, to), out);
    return out + count;
  }
  for (let at = from; at < to; at++) target[out++] = source[at] as number;
  return out;
}

function writeLength(rest: number, target: Uint8Array, start: number): number {
  let out = start;
  for (; rest >= 255; rest -= 255) target[out++] = 255;
  target[out++] = rest;
  return out;
}

/** Decompresses the block at `start` of `source` into `target`, which it must fill exactly; false if it is damaged. */
export function decompressBlock(
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  size: number,
): boolean {
  const end = source.length;
  let at = start;
  let out = 0;
  while (at < end) {
    const token = source[at++] as number;
    let literals = token >>> 4;
    if (literals === 15) {
      let more: number;
      do {
        if (at >= end) return false;
        more = source[at++] as number;
        literals += more;
      } while (more === 255);
    }
    if (at + literals > end || out + literals > size) return false;
    if (literals > 24) {
      target.set(source.subarray(at, at + literals), out);
      at += literals;
      out += literals;
    } else for (let n = 0; n < literals; n++) target[out++] = source[at++] as number;
    if (at === end) return out === size;
    if (at + 2 > end) return false;
    const distance = (source[at] as number) | ((source[at + 1] as number) << 8);
    at += 2;
    let length = (token & 15) + MIN_MATCH;
    if ((token & 15) === 15) {
      let more: number;
      do {
        if (at >= end) return false;
        more = source[at++] as number;
        length += more;
      } while (more === 255);
    }
    if (distance === 0 || distance > out || out + length > size) return false;
    for (let from = out - distance, n = 0; n < length; n++) target[out++] = target[from++] as number;
  }
  return false;
}
