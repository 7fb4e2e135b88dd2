const MAX_LINE_LENGTH = 64 * 1024;

/** Cuts a stream of bytes into lines of text; a line longer than 64 Ki characters comes in several. */
export class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The lines that are whole now. */
  push(chunk: Uint8Array): string[] {
    const pieces = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = pieces.pop() ?? "";
    const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
    if (this.#rest.length <= MAX_LINE_LENGTH) return lines;
    lines.push(this.#rest);
    this.#rest = "";
    return lines;
  }

  /** The line without an end, if there is one. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
    return rest ? [rest] : [];
  }
}
