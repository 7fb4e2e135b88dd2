import { styleText } from "node:util";
import { formatMs } from "./format.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const LABEL_WIDTH = 22;
const DETAIL_WIDTH = 44;

/** Output of the demo: a terminal gets colors and a line redrawn in place, a pipe plain lines. */
export class Terminal {
  /** Whether `status` redraws its line. */
  readonly rewrites: boolean;
  readonly #stream: NodeJS.WriteStream;
  readonly #hasColours: boolean;
  /** Length of the status line on the screen. */
  #statusLength = 0;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.rewrites = stream.isTTY === true && env.TERM !== "dumb";
    this.#hasColours = this.rewrites && !env.NO_COLOR;
    if (this.#hasColours) stream.write(HIDE_CURSOR);
  }

  /** Starts a chapter with its title and purpose. */
  heading(title: string, why: string): void {
    this.line();
    this.line(this.#style("bold", title));
    this.line(this.#style("dim", why));
  }

  line(text = ""): void {
    this.endStatus();
    this.#stream.write(`${text}\n`);
  }

  /** Prints an operation with its duration. */
  fact(label: string, detail: string, ms?: number): void {
    const time = ms === undefined ? "" : this.#style("green", formatMs(ms).padStart(9));
    this.line(`  ${label.padEnd(LABEL_WIDTH)}${detail.padEnd(DETAIL_WIDTH)}${time}`.trimEnd());
  }

  /** Shows progress. */
  status(text: string): void {
    if (!this.rewrites) {
      this.line(text);
      return;
    }
    // One column stays free: some terminals wrap as soon as the last one is used.
    const shown = text.slice(0, (this.#stream.columns || 80) - 1);
    this.#stream.write(`\r${shown.padEnd(this.#statusLength)}`);
    this.#statusLength = shown.length;
  }

  /** Keeps the status line and continues below it. */
  endStatus(): void {
    if (this.#statusLength > 0) this.#stream.write("\n");
    this.#statusLength = 0;
  }

  /** Restores the terminal. */
  restore(): void {
    this.endStatus();
    if (this.#hasColours) this.#stream.write(SHOW_CURSOR);
  }

  /** Calls `listener` when the reader of the output is gone. */
  onGone(listener: () => void): void {
    this.#stream.on("error", listener);
  }

  #style(format: "bold" | "dim" | "green", text: string): string {
    return this.#hasColours ? styleText(format, text, { validateStream: false }) : text;
  }
}
