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

  /** Returns no promise if the work starts at once and returns none. */
  run<T>(work: () => Promise<T>): Promise<T>;
  run<T>(work: () => T | Promise<T>): T | Promise<T>;
  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.#isRunning)
      return new Promise<void>((resolve) => this.#starts.push(resolve)).then(() => this.#run(work));
    this.#isRunning = true;
    return this.#run(work);
  }

  #run<T>(work: () => T | Promise<T>): T | Promise<T> {
    let result: T | Promise<T>;
    try {
      result = work();
    } catch (error) {
      result = Promise.reject(error);
    }
    if (result instanceof Promise) result.then(this.#startNext, this.#startNext);
    else this.#startNext();
    return result;
  }
}
