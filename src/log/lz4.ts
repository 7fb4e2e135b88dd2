/**
 * LZ4 block compression for small payloads, against a primer. Node's zstd and deflate set up a whole stream per call
 * and take three times as long for 2 KB (docs/decisions/0004). The format is LZ4's block format: sequences of literals
 * and back-references of at least four bytes, with the primer as dictionary.
 *
 * The loops are inlined instead of being split into functions, because they run for every append and every read.
 */

const HASH_BITS = 13;
const HASH_SHIFT = 32 - HASH_BITS;
const HASH_FACTOR = -1640531535;
const MIN_MATCH = 4;
/** A block ends with at least five literals, and its last match starts at least twelve bytes before the end. */
const LAST_LITERALS = 5;
const MATCH_START_MARGIN = 12;
/** Steps grow while no match is found, so that incompressible data is skipped quickly. */
const SKIP_SHIFT = 5;
/** Maximum size of primer and input together: positions and distances fit in 16 bits. */
const MAX_WINDOW_BYTES = 65_535;
/** Copies write several bytes at a time; the next copy overwrites the excess. */
const COPY_BYTES = 8;
/** The search reads ahead of its position and ignores matches past the end. */
const READ_AHEAD_BYTES = COPY_BYTES + (MAX_WINDOW_BYTES >> SKIP_SHIFT);

/** Packs and unpacks texts against one primer; owns its buffers, so calls must not overlap. */
export class Lz4 {
  /** Longest input, in bytes. */
  readonly maxBytes: number;
  readonly #primerBytes: number;
  /** The primer, then the input or the output. */
  readonly #window: Uint8Array;
  readonly #words: DataView;
  /** The buffer to write the input text into, from its start. */
  readonly input: Uint8Array;
  readonly #packed: Uint8Array;
  readonly #packedWords: DataView;
  readonly #positions = new Uint16Array(1 << HASH_BITS);
  readonly #primerPositions = new Uint16Array(1 << HASH_BITS);

  constructor(primer: Uint8Array, maxBytes: number) {
    // Position 0 means "not seen", so it must belong to the primer.
    if (primer.length < MIN_MATCH || primer.length + maxBytes > MAX_WINDOW_BYTES) {
      throw new RangeError(
        "The primer must have at least four bytes, and fit in 64 KB with the longest input.",
      );
    }
    this.maxBytes = maxBytes;
    this.#primerBytes = primer.length;
    this.#window = new Uint8Array(primer.length + maxBytes + READ_AHEAD_BYTES);
    this.#window.set(primer);
    this.#words = new DataView(this.#window.buffer);
    this.input = this.#window.subarray(primer.length, primer.length + maxBytes);
    this.#packed = new Uint8Array(maxBytes + Math.ceil(maxBytes / 255) + 16 + COPY_BYTES);
    this.#packedWords = new DataView(this.#packed.buffer);
    for (let at = 0; at + MIN_MATCH <= primer.length; at++) this.#primerPositions[this.#slot(at)] = at;
  }

  /** Packs the first `size` bytes of `input`; the result is valid until the next call. */
  pack(size: number): Uint8Array {
    const window = this.#window;
    const words = this.#words;
    const packed = this.#packed;
    const packedWords = this.#packedWords;
    const positions = this.#positions;
    positions.set(this.#primerPositions);
    const end = this.#primerBytes + size;
    const matchLimit = end - LAST_LITERALS;
    const startLimit = end - MATCH_START_MARGIN;
    let anchor = this.#primerBytes;
    let out = 0;
    let at = anchor;
    let word = words.getInt32(at, true);
    let misses = 1 << SKIP_SHIFT;
    while (at < startLimit) {
      const slot = Math.imul(word, HASH_FACTOR) >>> HASH_SHIFT;
      const seen = positions[slot] as number;
      positions[slot] = at;
      // Fetch the next word before checking this one, because it is usually needed.
      const next = at + (misses++ >> SKIP_SHIFT);
      const nextWord = words.getInt32(next, true);
      if (words.getInt32(seen, true) !== word) {
        at = next;
        word = nextWord;
        continue;
      }
      let length = MIN_MATCH;
      while (at + length < matchLimit) {
        const difference = words.getInt32(seen + length, true) ^ words.getInt32(at + length, true);
        if (difference !== 0) {
          length += (31 - Math.clz32(difference & -difference)) >>> 3;
          break;
        }
        length += 4;
      }
      if (at + length > matchLimit) length = matchLimit - at;

      const literals = at - anchor;
      const extra = length - MIN_MATCH;
      packed[out++] = (Math.min(literals, 15) << 4) | Math.min(extra, 15);
      if (literals >= 15) out = writeLength(literals - 15, packed, out);
      for (let n = 0; n < literals; n += 4)
        packedWords.setInt32(out + n, words.getInt32(anchor + n, true), true);
      out += literals;
      const distance = at - seen;
      packed[out++] = distance;
      packed[out++] = distance >>> 8;
      if (extra >= 15) out = writeLength(extra - 15, packed, out);
      at += length;
      anchor = at;
      word = words.getInt32(at, true);
      misses = 1 << SKIP_SHIFT;
    }
    const literals = end - anchor;
    packed[out++] = Math.min(literals, 15) << 4;
    if (literals >= 15) out = writeLength(literals - 15, packed, out);
    packed.set(window.subarray(anchor, end), out);
    return packed.subarray(0, out + literals);
  }

  /** Unpacks the block at `start` of `source`, which must yield `size` bytes; undefined if it is damaged. */
  unpack(source: Uint8Array, start: number, size: number): Uint8Array | undefined {
    if (size > this.maxBytes) return undefined;
    const window = this.#window;
    const words = this.#words;
    const sourceWords = new DataView(source.buffer, source.byteOffset, source.byteLength);
    const sourceEnd = source.length;
    const end = this.#primerBytes + size;
    let at = start;
    let out = this.#primerBytes;
    while (at < sourceEnd) {
      const token = source[at++] as number;
      let literals = token >>> 4;
      if (literals === 15) {
        let more = 255;
        while (more === 255 && at < sourceEnd) {
          more = source[at++] as number;
          literals += more;
        }
      }
      if (at + literals > sourceEnd || out + literals > end) return undefined;
      if (at + literals + COPY_BYTES <= sourceEnd) {
        // Copy eight bytes unconditionally: they usually suffice, and a mispredicted branch costs more than a copy.
        words.setInt32(out, sourceWords.getInt32(at, true), true);
        words.setInt32(out + 4, sourceWords.getInt32(at + 4, true), true);
        for (let n = 8; n < literals; n += 4)
          words.setInt32(out + n, sourceWords.getInt32(at + n, true), true);
        at += literals;
        out += literals;
      } else for (const stop = at + literals; at < stop; ) window[out++] = source[at++] as number;
      if (at === sourceEnd) return out === end ? this.input.subarray(0, size) : undefined;
      if (at + 2 > sourceEnd) return undefined;
      const distance = (source[at] as number) | ((source[at + 1] as number) << 8);
      at += 2;
      let length = (token & 15) + MIN_MATCH;
      if (length === 15 + MIN_MATCH) {
        let more = 255;
        while (more === 255 && at < sourceEnd) {
          more = source[at++] as number;
          length += more;
        }
      }
      if (distance === 0 || distance > out || out + length > end) return undefined;
      if (distance >= 8) {
        words.setInt32(out, words.getInt32(out - distance, true), true);
        words.setInt32(out + 4, words.getInt32(out + 4 - distance, true), true);
        for (let n = 8; n < length; n += 4)
          words.setInt32(out + n, words.getInt32(out + n - distance, true), true);
        out += length;
      } else
        for (const stop = out + length; out < stop; out++) window[out] = window[out - distance] as number;
    }
    return undefined;
  }

  #slot(at: number): number {
    return Math.imul(this.#words.getInt32(at, true), HASH_FACTOR) >>> HASH_SHIFT;
  }
}

function writeLength(rest: number, packed: Uint8Array, start: number): number {
  let out = start;
  for (; rest >= 255; rest -= 255) packed[out++] = 255;
  packed[out++] = rest;
  return out;
}
