import type { Readable, Writable } from "node:stream";

/** All that a command knows of the world around it. */
export interface Context {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Whether each of the three is a terminal. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Columns of each; unlimited where it is no terminal. */
  readonly columns: { readonly stdout: number; readonly stderr: number };
  /** Rows of the output; unlimited where it is no terminal. */
  readonly rows: number;
  /** Fires on Ctrl-C, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  /**
   * Has SIGHUP tell a listener instead of ending the process, as servers do; with a terminal it still ends. Returns what
   * takes that back.
   */
  readonly onHangUp?: (listener: () => void) => () => void;
}
