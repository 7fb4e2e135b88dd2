/** An abort controller for a signal that is rarely used: nothing is created, and nothing aborted, until it is. */
export class LazyAbortController {
  #controller: AbortController | undefined;
  #isAborted = false;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
