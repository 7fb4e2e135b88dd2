/**
 * Runs work one piece at a time, in the order of the calls; failed work does not stop later work. Work starts at once if
 * nothing else is running.
 */
export class SerialQueue {
  /** Start the waiting pieces. */
  readonly #starts: (() => void)[] = [];
  #isRunning = false;
  readonly #startNext = () => {
    const start = this.#starts.shift();
    if (start) start();
    else this.#isRunning = false;
  };

  /** Number of pieces that have not ended. */
  get waiting(): number {
    return this.#starts.length + (this.#isRunning ? 1 : 0);
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const isFirst = !this.#isRunning;
    this.#isRunning = true;
    const result = isFirst
      ? start(work)
      : new Promise<void>((resolve) => this.#starts.push(resolve)).then(work);
    // The caller of this piece continues before the next one begins.
    result.then(this.#startNext, this.#startNext);
    return result;
  }
}

/** Starts work at once; an error that it throws before its first wait rejects the promise too. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}
