/** Maximum time that one piece of work blocks the event loop. */
const MAX_TURN_MS = 8;

/** Work that yields at each pause and returns its result. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without pauses, for work that is known to be small. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Shares the event loop: large work calls `rest` after each step. */
export class Turns {
  #startedMs = performance.now();

  /** Waits for the next turn of the event loop if the current one has lasted `MAX_TURN_MS`; undefined otherwise. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#startedMs < MAX_TURN_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#startedMs = performance.now();
        resolve();
      });
    });
  }

  /** Runs all steps, resting between them where necessary. */
  async finish<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      const resting = this.rest();
      if (resting) await resting;
    }
  }
}
