/** Keeps the last bytes of a stream, up to a bound. */
export class OutputTail {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Number of bytes received. */
  get totalBytes(): number {
    return this.#total;
  }

  /** Number of bytes received and dropped. */
  get droppedBytes(): number {
    return this.#total - this.#keptBytes;
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    this.#keptBytes += chunk.length;
    this.#chunks.push(chunk);
    while (this.#keptBytes - (this.#chunks[0]?.length ?? 0) >= this.#maxBytes)
      this.#keptBytes -= this.#chunks.shift()?.length ?? 0;
    if (this.#chunks.length > 64) this.#join();
    else if (this.#keptBytes > this.#maxBytes * 2) this.#join();
  }

  /** The kept bytes as text, without a character that is cut at the front. */
  text(): string {
    this.#join();
    const bytes = this.#chunks[0] ?? new Uint8Array();
    let start = 0;
    if (this.droppedBytes > 0) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return new TextDecoder().decode(bytes.subarray(start));
  }

  #join(): void {
    const joined = Buffer.concat(this.#chunks);
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#maxBytes)));
    this.#chunks = [kept];
    this.#keptBytes = kept.length;
  }
}
