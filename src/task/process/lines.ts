const MAX_LINE_LENGTH = 64 * 1024;

/** Splits a byte stream into lines of text; a line longer than 64 Ki characters is split. */
export class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** Returns the lines completed by this chunk. */
  push(chunk: Uint8Array): string[] {
    const pieces = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = pieces.pop() ?? "";
    const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
    if (this.#rest.length <= MAX_LINE_LENGTH) return lines;
    lines.push(this.#rest);
    this.#rest = "";
    return lines;
  }

  /** Returns the last line if it has no line break. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
    return rest ? [rest] : [];
  }
}
