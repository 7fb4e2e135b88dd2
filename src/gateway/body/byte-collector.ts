const FIRST_BYTES = 4_096;
/** Bytes that have to come before a length that was only announced is reserved. */
const RESERVE_AFTER = 65_536;

/**
 * Joins bytes as they come, so that memory follows their number and not that of the chunks: a Buffer for each chunk would take
 * hundreds of bytes for a single one.
 */
export class ByteCollector {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly #expected: number;

  /** `expectedBytes` is how many were announced, if any were. */
  constructor(expectedBytes = 0) {
    this.#expected = expectedBytes;
  }

  /** The number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** All bytes so far; valid until more are added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Adds a copy of a chunk. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }

  /** All bytes so far; the collector is empty afterwards. */
  take(): Buffer {
    const all = this.#bytes.subarray(0, this.#length);
    // Whoever keeps the bytes must not keep much unused room with them.
    const isRoomy = this.#bytes.length - this.#length > this.#length / 8;
    this.clear();
    return isRoomy ? Buffer.from(all) : all;
  }

  /** Drops all bytes. */
  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }

  #grow(length: number): void {
    const isReserved = length >= RESERVE_AFTER && length <= this.#expected;
    const size = isReserved ? this.#expected : Math.max(FIRST_BYTES, length, 2 * this.#bytes.length);
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
