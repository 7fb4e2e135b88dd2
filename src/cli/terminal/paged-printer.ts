import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import type { CliContext } from "../cli-context.ts";
import { createPlainPrinter, type Printer, printTo, ReaderGoneError } from "./printer.ts";
import { measureWidth } from "./width.ts";

/** ANSI styles, which take no columns on the screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character
const STYLES = /\u001b\[[0-9;]*m/g;

/**
 * Prints to the terminal directly if the output fits on one screen, else through the user's pager if one is installed.
 */
export function createPagedPrinter(context: CliContext): Printer {
  const command = context.isTerminal.stdout ? findPagerCommand(context) : undefined;
  return command === undefined
    ? createPlainPrinter(context.stdout, context.signal)
    : new PagedPrinter(context, command);
}

/** Returns the pager command: PAGER, else less; undefined if there is none. */
function findPagerCommand({ env, platform }: Pick<CliContext, "env" | "platform">): string | undefined {
  const wanted = env.PAGER?.trim();
  if (wanted === "" || wanted === "cat") return undefined;
  const command = wanted ?? "less -FRX";
  // Variable assignments may precede the program: LESS=S less.
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
  readonly #context: CliContext;
  readonly #command: string;
  /** Output so far, held until it exceeds one screen. */
  #held: string[] = [];
  #heldRows = 0;
  #pager: ChildProcess | undefined;
  #closed: Promise<void> | undefined;

  constructor(context: CliContext, command: string) {
    this.#context = context;
    this.#command = command;
  }

  async print(text: string): Promise<void> {
    if (this.#pager) return this.#send(text);
    this.#held.push(text);
    this.#heldRows += countRows(text, this.#context.columns.stdout);
    if (this.#heldRows < this.#context.rows) return;
    this.#start();
    await this.#release((held) => this.#send(held));
  }

  async close(): Promise<void> {
    const { stdout, signal } = this.#context;
    if (!this.#pager) return this.#release((held) => printTo(stdout, held, signal));
    this.#pager.stdin?.end();
    await this.#closed;
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
    this.#closed = new Promise((resolve) => {
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
      await this.#closed;
      throw error instanceof ReaderGoneError ? error : new ReaderGoneError();
    }
  }
}

/** Counts the screen rows that a text takes at a width. */
function countRows(text: string, columns: number): number {
  const lines = text.replace(STYLES, "").replace(/\n$/, "").split("\n");
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(measureWidth(line) / columns)), 0);
}
