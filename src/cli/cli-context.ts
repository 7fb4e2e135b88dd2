import type { Readable, Writable } from "node:stream";

/** The environment of a command: streams, variables, terminal and signals. */
export interface CliContext {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** True for each stream that is a terminal. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Width of each stream in columns; Infinity if it is not a terminal. */
  readonly columns: { readonly stdout: number; readonly stderr: number };
  /** Height of stdout in rows; Infinity if it is not a terminal. */
  readonly rows: number;
  /** Aborts on Ctrl-C and when the output's reader is gone. */
  readonly signal: AbortSignal;
  /**
   * Calls the listener on SIGHUP instead of ending the process, as servers do; with a terminal SIGHUP still ends it.
   * Returns a function that removes the listener.
   */
  readonly onHangUp?: (listener: () => void) => () => void;
}

/** Waits until the program is asked to stop. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
