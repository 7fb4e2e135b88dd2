const MAX_LINE_LENGTH = 64 * 1024;

/** Splits a byte stream into lines of text; a line longer than 64 Ki characters is split. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  #partialLine = "";

  /** Returns the lines completed by this chunk. */
  push(chunk: Uint8Array): string[] {
    const pieces = (this.#partialLine + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#partialLine = pieces.pop() ?? "";
    const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
    if (this.#partialLine.length <= MAX_LINE_LENGTH) return lines;
    lines.push(this.#partialLine);
    this.#partialLine = "";
    return lines;
  }

  /** Returns the last line if it has no line break. */
  end(): string[] {
    const rest = this.#partialLine + this.#decoder.decode();
    this.#partialLine = "";
    return rest ? [rest] : [];
  }
}
