import { styleText } from "node:util";
import { formatMs } from "./format.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const LABEL_WIDTH = 22;
const DETAIL_WIDTH = 44;

/** Where the story is told: a terminal gets colours and a line rewritten in place, a pipe plain lines. */
export class Terminal {
  /** Whether `status` rewrites its line. */
  readonly rewrites: boolean;
  readonly #stream: NodeJS.WriteStream;
  readonly #hasColours: boolean;
  /** Characters of the status line that is on the screen now. */
  #statusLength = 0;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.rewrites = stream.isTTY === true && env.TERM !== "dumb";
    this.#hasColours = this.rewrites && !env.NO_COLOR;
    if (this.#hasColours) stream.write(HIDE_CURSOR);
  }

  /** Begins a chapter: what happens now, and why it matters. */
  heading(title: string, why: string): void {
    this.line();
    this.line(this.#style("bold", title));
    this.line(this.#style("dim", why));
  }

  /** Prints one line. */
  line(text = ""): void {
    this.endStatus();
    this.#stream.write(`${text}\n`);
  }

  /** Prints one thing that was done, with the time it took. */
  fact(label: string, detail: string, ms?: number): void {
    const time = ms === undefined ? "" : this.#style("green", formatMs(ms).padStart(9));
    this.line(`  ${label.padEnd(LABEL_WIDTH)}${detail.padEnd(DETAIL_WIDTH)}${time}`.trimEnd());
  }

  /** Shows how far something has come. */
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

  /** Leaves the status line standing and goes on below it. */
  endStatus(): void {
    if (this.#statusLength > 0) this.#stream.write("\n");
    this.#statusLength = 0;
  }

  /** Leaves the terminal as it was found. */
  restore(): void {
    this.endStatus();
    if (this.#hasColours) this.#stream.write(SHOW_CURSOR);
  }

  /** Calls `listener` when nobody reads any more what is written here. */
  onGone(listener: () => void): void {
    this.#stream.on("error", listener);
  }

  #style(format: "bold" | "dim" | "green", text: string): string {
    return this.#hasColours ? styleText(format, text, { validateStream: false }) : text;
  }
}
