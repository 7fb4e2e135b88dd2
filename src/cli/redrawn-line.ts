import type { Writable } from "node:stream";
import { fitText } from "./width.ts";

const REDRAW_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** The last line of a terminal, redrawn in place ten times a second at most. */
export class RedrawnLine {
  readonly #stream: Writable;
  readonly #columns: number;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(stream: Writable, columns: number) {
    this.#stream = stream;
    this.#columns = columns;
  }

  /** Draws the line, unless it was drawn a moment ago. */
  update(words: (columns: number) => string): void {
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const columns = this.#columns - 1;
    this.#stream.write(CLEAR_LINE + fitText(words(columns), columns));
  }

  /** Removes the line from the screen. */
  clear(): void {
    if (this.#drawnAt > 0) this.#stream.write(CLEAR_LINE);
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
