/** Signals that end the demo, with their conventional exit codes. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm; the echo is not a second request. */
const ECHO_MS = 400;

/** Thrown by `check` once a stop was requested. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

/** The first signal requests a stop between two steps, the second one exits at once. */
export class Stop {
  readonly #beforeExit: () => void;
  #request: { readonly why: string; readonly exitCode: number; readonly atMs: number } | undefined;

  constructor(beforeExit: () => void) {
    this.#beforeExit = beforeExit;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** The exit code of the process; undefined unless a stop was requested. */
  get exitCode(): number | undefined {
    return this.#request?.exitCode;
  }

  /** Why it stops: a signal's name, or the reason given to `ask`. */
  get why(): string | undefined {
    return this.#request?.why;
  }

  /** Requests a stop at the next step. */
  ask(why: string, exitCode: number): void {
    this.#request ??= { why, exitCode, atMs: performance.now() };
  }

  /** Must be called between steps: throws Stopped if a stop was requested. */
  check(): void {
    if (this.#request) throw new Stopped(this.#request.why);
  }

  /** Removes the signal handlers. */
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
