import type { CommonValues } from "./cli-command.ts";
import type { CliContext } from "./cli-context.ts";
import { escapeLine } from "./escape.ts";
import { RedrawnLine } from "./redrawn-line.ts";

/** Progress line on a terminal; silent without one. */
export class StatusLine {
  readonly #line: RedrawnLine | undefined;

  constructor({ stderr, columns, isTerminal }: CliContext, { quiet }: CommonValues) {
    const isShown = isTerminal.stderr && !quiet;
    this.#line = isShown ? new RedrawnLine(stderr, columns.stderr) : undefined;
  }

  update(words: () => string): void {
    this.#line?.update(() => escapeLine(words()));
  }

  /** Removes the line from the screen. */
  clear(): void {
    this.#line?.clear();
  }
}
