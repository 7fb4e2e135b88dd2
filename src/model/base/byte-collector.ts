const FIRST_BYTES = 4_096;
/** Bytes that must arrive before the announced length is reserved. */
const RESERVE_AFTER = 65_536;
/** Unused memory that a kept buffer may hold, as a share of its bytes. */
const MAX_UNUSED_SHARE = 1 / 8;
const EMPTY = Buffer.alloc(0);

/**
 * Joins chunks into one buffer, so that memory depends on the number of bytes and not of chunks: a Buffer per chunk
 * would take hundreds of bytes even for a single byte.
 */
export class ByteCollector {
  #bytes: Buffer = EMPTY;
  /** The number of bytes so far. */
  length = 0;
  readonly #expected: number;

  /** `expectedBytes` is the announced length; 0 if unknown. */
  constructor(expectedBytes = 0) {
    this.#expected = expectedBytes;
  }

  /** All bytes so far; valid until more are added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** Adds a copy of a chunk; a chunk of the whole announced length is kept itself, so it must not change. */
  add(chunk: Uint8Array): void {
    const length = this.length + chunk.length;
    const unused = chunk.buffer.byteLength - chunk.length;
    const isCompact = Buffer.isBuffer(chunk) && unused <= chunk.length * MAX_UNUSED_SHARE;
    if (this.length === 0 && length === this.#expected && isCompact) {
      this.#bytes = chunk;
      this.length = length;
      return;
    }
    if (length > this.#bytes.length) {
      const isReserved = length >= RESERVE_AFTER && length <= this.#expected;
      const size = isReserved ? this.#expected : Math.max(FIRST_BYTES, length, 2 * this.#bytes.length);
      const larger = Buffer.allocUnsafeSlow(size);
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.length);
    this.length = length;
  }

  /** Returns all bytes and empties the collector. */
  take(): Buffer {
    const all = this.#bytes.subarray(0, this.length);
    // The caller may keep the bytes, so they must not hold much unused memory.
    const isRoomy = this.#bytes.length - this.length > this.length * MAX_UNUSED_SHARE;
    this.clear();
    return isRoomy ? Buffer.from(all) : all;
  }

  clear(): void {
    this.#bytes = EMPTY;
    this.length = 0;
  }
}
