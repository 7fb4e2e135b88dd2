/** Longest time that work on one body keeps the thread from others. */
const MAX_TURN_MS = 8;

/** Work that pauses now and then, and its result. */
export type Steps<T> = Generator<void, T>;

/** Does all steps at once: for work that is known to be small. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Shares the thread: work on a large body asks it for a rest after each of its steps. */
export class Turns {
  #startedMs = performance.now();

  /** Waits for the next turn of the event loop once this one has lasted long enough; undefined before. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#startedMs < MAX_TURN_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#startedMs = performance.now();
        resolve();
      });
    });
  }

  /** Does steps with a rest between them where one is due. */
  async finish<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      const resting = this.rest();
      if (resting) await resting;
    }
  }
}
