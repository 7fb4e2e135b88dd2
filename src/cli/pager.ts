import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import type { Context } from "./context.ts";
import { type Printer, plainPrinter, printTo, ReaderGone } from "./printer.ts";
import { widthOf } from "./width.ts";

/** Styles take no room on the screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character
const STYLES = /\u001b\[[0-9;]*m/g;

/** Prints to the terminal while it fits on one screen, else through the reader's pager; plainly where there is none. */
export function pagedPrinter(context: Context): Printer {
  const command = context.isTerminal.stdout ? pagerCommand(context) : undefined;
  return command === undefined
    ? plainPrinter(context.stdout, context.signal)
    : new PagedPrinter(context, command);
}

/** The pager to run: PAGER, else less; undefined for none. */
export function pagerCommand({ env, platform }: Pick<Context, "env" | "platform">): string | undefined {
  const wanted = env.PAGER?.trim();
  if (wanted === "" || wanted === "cat") return undefined;
  const command = wanted ?? "less -FRX";
  // Settings may stand before the program: LESS=S less.
  const program = command.split(/\s+/).find((word) => !/^\w+=/.test(word));
  return program !== undefined && hasProgram(program, env.PATH ?? "", platform) ? command : undefined;
}

function hasProgram(name: string, path: string, platform: NodeJS.Platform): boolean {
  const folders = /[\\/]/.test(name) ? [""] : path.split(delimiter).filter((folder) => folder !== "");
  const endings = platform === "win32" ? ["", ".exe", ".cmd"] : [""];
  return folders.some((folder) =>
    endings.some((ending) => {
      try {
        accessSync(join(folder, name + ending), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

class PagedPrinter implements Printer {
  readonly #context: Context;
  readonly #command: string;
  /** What has been printed so far, until it is more than a screen. */
  #held: string[] = [];
  #heldRows = 0;
  #pager: ChildProcess | undefined;
  #left: Promise<void> | undefined;

  constructor(context: Context, command: string) {
    this.#context = context;
    this.#command = command;
  }

  async print(text: string): Promise<void> {
    if (this.#pager) return this.#send(text);
    this.#held.push(text);
    this.#heldRows += rowsOf(text, this.#context.columns.stdout);
    if (this.#heldRows < this.#context.rows) return;
    this.#start();
    await this.#release((held) => this.#send(held));
  }

  async close(): Promise<void> {
    const { stdout, signal } = this.#context;
    if (!this.#pager) return this.#release((held) => printTo(stdout, held, signal));
    this.#pager.stdin?.end();
    await this.#left;
  }

  #start(): void {
    const { env, cwd } = this.#context;
    const pager = spawn(this.#command, {
      shell: true,
      cwd,
      env: { LESS: "FRX", ...env },
      stdio: ["pipe", "inherit", "inherit"],
    });
    pager.stdin?.on("error", () => undefined);
    this.#left = new Promise((resolve) => {
      pager.on("error", () => resolve());
      pager.on("close", () => resolve());
    });
    this.#pager = pager;
  }

  async #release(to: (held: string) => Promise<void>): Promise<void> {
    const held = this.#held.join("");
    this.#held = [];
    if (held !== "") await to(held);
  }

  async #send(text: string): Promise<void> {
    try {
      await printTo(this.#pager?.stdin as Writable, text);
    } catch (error) {
      await this.#left;
      throw error instanceof ReaderGone ? error : new ReaderGone();
    }
  }
}

/** Rows that a text takes on a screen of that width. */
export function rowsOf(text: string, columns: number): number {
  const lines = text.replace(STYLES, "").replace(/\n$/, "").split("\n");
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
}
