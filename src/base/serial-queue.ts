/** Runs work one piece at a time, in the order of the calls; failed work does not stop later work. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Number of pieces that have not ended. */
  get waiting(): number {
    return this.#waiting;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const own = this.#last.then(work);
    this.#last = own.then(
      () => this.#waiting--,
      () => this.#waiting--,
    );
    return own;
  }
}
