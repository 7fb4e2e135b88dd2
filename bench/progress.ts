/** Reports progress on stderr: a live line on a terminal, one plain line per measurement elsewhere. */
export class Progress {
  readonly #isLive = process.stderr.isTTY === true;
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #measurement = "";
  #step = "";
  #stepStartedMs = 0;

  begin(measurement: string): void {
    if (!this.#isLive) process.stderr.write(`${measurement}\n`);
    this.#measurement = measurement;
    this.step("");
    if (this.#isLive) this.#timer ??= setInterval(() => this.#draw(), 500).unref();
  }

  /** Sets the current step of the measurement; shown only on a terminal. */
  step(step: string): void {
    this.#step = step;
    this.#stepStartedMs = performance.now();
    this.#draw();
  }

  /** Prints a line above the live one. */
  note(line: string): void {
    this.clear();
    process.stderr.write(`${line}\n`);
    this.#draw();
  }

  /** Removes the live line, so that other text can be printed. */
  clear(): void {
    if (this.#isLive) process.stderr.write("\r\x1b[2K");
  }

  /** Ends the live line for good. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#measurement = "";
    this.clear();
  }

  /** Seconds since the bench began. */
  get elapsedSeconds(): number {
    return (performance.now() - this.#startedMs) / 1_000;
  }

  #draw(): void {
    if (!this.#isLive || this.#measurement === "") return;
    const seconds = Math.round((performance.now() - this.#stepStartedMs) / 1_000);
    const step = this.#step === "" ? "" : ` · ${this.#step}`;
    const line = `${this.#measurement}${step} … ${seconds} s`;
    // A wrapped line could not be removed again. Some terminals report no width.
    process.stderr.write(`\r\x1b[2K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
  }
}
