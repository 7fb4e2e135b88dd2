import type { ReadStream } from "node:tty";
import type { CliContext } from "../cli-context.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
/** q, Q, Escape, Ctrl-C and Ctrl-D. */
const QUIT: readonly string[] = ["q", "Q", "\u001b", "\u0003", "\u0004"];

/** A screen of its own on the terminal, which gives the former content back; q or Ctrl-C ends it. */
export class LiveScreen {
  readonly #context: CliContext;
  readonly #controller = new AbortController();
  readonly #onKey = (key: Buffer) => {
    if (QUIT.includes(key.toString("latin1"))) this.#controller.abort();
  };

  constructor(context: CliContext) {
    this.#context = context;
    context.stdout.write(ENTER);
    if (!context.isTerminal.stdin) return;
    const stdin = context.stdin as Partial<ReadStream>;
    stdin.setRawMode?.(true);
    context.stdin.on("data", this.#onKey);
  }

  /** Aborts when the user wants to leave. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#controller.signal, this.#context.signal]);
  }

  /** The present size; a terminal may be resized. */
  get size(): { readonly width: number; readonly rows: number } {
    const { columns, rows } = this.#context.stdout as Partial<{ columns: number; rows: number }>;
    return { width: columns ?? this.#context.columns.stdout, rows: (rows ?? this.#context.rows) - 1 };
  }

  draw(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join("");
    this.#context.stdout.write(HOME + text + CLEAR_BELOW);
  }

  close(): void {
    this.#context.stdout.write(LEAVE);
    if (!this.#context.isTerminal.stdin) return;
    this.#context.stdin.off("data", this.#onKey);
    (this.#context.stdin as Partial<ReadStream>).setRawMode?.(false);
    this.#context.stdin.pause();
  }
}
