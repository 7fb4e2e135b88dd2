import type { Writable } from "node:stream";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { escapeLine } from "./escape.ts";
import { formatDuration } from "./format-time.ts";
import { fitText } from "./width.ts";

/** A part of some work; weights are relative durations. */
export interface Phase {
  readonly name: string;
  readonly weight: number;
}

const BAR_COLUMNS = 24;
/** Earlier estimates of the remaining time are too unreliable to show. */
const GUESS_AFTER_MS = 1_500;

/** One progress bar for work of several phases, with percentage and time left; silent without a terminal. */
export class PhaseBar {
  readonly #line: RedrawnLine | undefined;
  readonly #phases: readonly Phase[];
  readonly #startedAt = performance.now();

  constructor(
    { stderr, columns, isTerminal }: CliContext,
    { quiet }: CommonValues,
    phases: readonly Phase[],
  ) {
    const isShown = isTerminal.stderr && !quiet;
    this.#line = isShown ? new RedrawnLine(stderr, columns.stderr) : undefined;
    this.#phases = phases;
  }

  /** Shows the share of a phase that is done; all earlier phases are done. */
  update(name: string, share: number, words = ""): void {
    const elapsedMs = performance.now() - this.#startedAt;
    const whole = computeWholeShare(this.#phases, name, share);
    this.#line?.update((columns) => fitText(formatBar(name, whole, elapsedMs, words), columns));
  }

  /** Removes the bar from the screen. */
  clear(): void {
    this.#line?.clear();
  }
}

/** The share of all work that is done. */
export function computeWholeShare(phases: readonly Phase[], name: string, share: number): number {
  const index = phases.findIndex((phase) => phase.name === name);
  const sum = (some: readonly Phase[]) => some.reduce((total, { weight }) => total + weight, 0);
  const own = phases[index]?.weight ?? 0;
  return (sum(phases.slice(0, index)) + own * Math.min(1, Math.max(0, share))) / Math.max(1e-9, sum(phases));
}

/** Formats the bar: "████░░░░ 42%  indexing  12,000 entries  1 min 5 s left". */
export function formatBar(name: string, share: number, elapsedMs: number, words: string): string {
  const full = Math.round(share * BAR_COLUMNS);
  const left = elapsedMs > GUESS_AFTER_MS && share > 0.01 ? (elapsedMs * (1 - share)) / share : undefined;
  return [
    `${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} ${Math.floor(share * 100)}%`,
    name,
    ...(words === "" ? [] : [words]),
    ...(left === undefined ? [] : [`${formatDuration(left)} left`]),
  ].join("  ");
}

const REDRAW_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** The last line of a terminal, redrawn in place ten times a second at most. */
class RedrawnLine {
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
