import { formatBytes, formatCount } from "./format.ts";
import type { MemoryMeter } from "./memory.ts";
import type { Terminal } from "./terminal.ts";

/** Interval of memory readings and of redrawing the line. */
const LOOK_MS = 100;
/** The displayed rate covers about the last second. */
const RATE_MS = 1_000;
/** Number of lines written to a pipe, whatever the length of the run. */
const PIPE_LINES = 10;

/** The live line of a long run of appends. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #memory: MemoryMeter;
  readonly #total: number;
  readonly #diskBytes: () => Promise<number>;
  #nextLookMs = performance.now() + LOOK_MS;
  #nextLineAt = 0;
  #ratePerSecond = 0;
  #rateFrom = { ms: performance.now(), done: 0 };
  #isRateSettled = false;

  constructor(parts: {
    readonly terminal: Terminal;
    readonly memory: MemoryMeter;
    readonly total: number;
    readonly diskBytes: () => Promise<number>;
  }) {
    this.#terminal = parts.terminal;
    this.#memory = parts.memory;
    this.#total = parts.total;
    this.#diskBytes = parts.diskBytes;
  }

  /** Must be called after every append; nearly free unless an update is due. */
  async tick(done: number): Promise<void> {
    const nowMs = performance.now();
    const isLast = done === this.#total;
    if (nowMs < this.#nextLookMs && !isLast) return;
    this.#nextLookMs = nowMs + LOOK_MS;
    const { heapBytes, rssBytes } = this.#memory.sample();
    this.#measureRate(nowMs, done);
    if (!this.#terminal.rewrites) {
      if (done < this.#nextLineAt && !isLast) return;
      this.#nextLineAt = done + this.#total / PIPE_LINES;
    }
    const percent = `${Math.floor((done / this.#total) * 100)}%`.padStart(4);
    const rate = `${formatCount(this.#ratePerSecond)}/s`;
    const figures = [
      `${formatCount(done)} messages`,
      rate,
      `heap ${formatBytes(heapBytes)}`,
      `RSS ${formatBytes(rssBytes)}`,
      `disk ${formatBytes(await this.#diskBytes())}`,
    ];
    this.#terminal.status(`${percent}  ${figures.join("  ")}`);
  }

  #measureRate(nowMs: number, done: number): void {
    const passedMs = nowMs - this.#rateFrom.ms;
    const isWhole = passedMs >= RATE_MS;
    if (this.#isRateSettled && !isWhole) return;
    this.#ratePerSecond = ((done - this.#rateFrom.done) / passedMs) * 1_000;
    if (!isWhole) return;
    this.#isRateSettled = true;
    this.#rateFrom = { ms: nowMs, done };
  }
}
