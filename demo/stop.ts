/** Signals that end the demonstration, with the exit codes that shells expect of them. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm; the echo is no second request. */
const ECHO_MS = 400;

/** Thrown by `check` once the watcher wants to stop. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Turns the first signal into a request to stop between two steps, and the second one into an exit at once. */
export class Stop {
  readonly #beforeExit: () => void;
  #request: { readonly why: string; readonly exitCode: number; readonly atMs: number } | undefined;

  constructor(beforeExit: () => void) {
    this.#beforeExit = beforeExit;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** What the process should exit with; undefined unless a stop was asked for. */
  get exitCode(): number | undefined {
    return this.#request?.exitCode;
  }

  /** Why it stops: a signal's name, or what was given to `ask`. */
  get why(): string | undefined {
    return this.#request?.why;
  }

  /** Asks to stop at the next step. */
  ask(why: string, exitCode: number): void {
    this.#request ??= { why, exitCode, atMs: performance.now() };
  }

  /** To be called between steps: throws Stopped if a stop was asked for. */
  check(): void {
    if (this.#request) throw new Stopped(this.#request.why);
  }

  /** Leaves signals to the system again. */
  release(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #onSignal = (signal: keyof typeof EXIT_CODES): void => {
    const earlier = this.#request;
    this.ask(signal, EXIT_CODES[signal]);
    if (!earlier || performance.now() - earlier.atMs < ECHO_MS) return;
    this.#beforeExit();
    process.exit(EXIT_CODES[signal]);
  };
}
