import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { escapeLine } from "../escape.ts";
import { fitTo } from "../width.ts";

const REDRAW_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** Progress line on a terminal; silent without one. */
export class StatusLine {
  readonly #context: Context;
  readonly #isShown: boolean;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(context: Context, { quiet }: CommonValues) {
    this.#context = context;
    this.#isShown = context.isTerminal.stderr && !quiet;
  }

  update(words: () => string): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const { stderr, columns } = this.#context;
    stderr.write(CLEAR_LINE + fitTo(escapeLine(words()), columns.stderr - 1));
  }

  /** Removes the line from the screen. */
  clear(): void {
    if (this.#drawnAt > 0) this.#context.stderr.write(CLEAR_LINE);
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
