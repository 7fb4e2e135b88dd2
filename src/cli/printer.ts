import { once } from "node:events";
import type { Writable } from "node:stream";

/** Takes what a command prints, at the pace of its reader. */
export interface Printer {
  /** Prints as it is; throws ReaderGone when nobody reads any more. */
  print(text: string): Promise<void>;
  /** Resolves when all is printed and, behind a pager, when the reader has left it. */
  close(): Promise<void>;
}

/** Whoever read our output has left; that is no failure. */
export class ReaderGone extends Error {}

/** Prints straight to a stream. */
export function plainPrinter(stream: Writable, signal?: AbortSignal): Printer {
  return { print: (text) => printTo(stream, text, signal), close: async () => undefined };
}

/** Writes and waits until there is room for more. */
export async function printTo(stream: Writable, text: string, signal?: AbortSignal): Promise<void> {
  if (stream.destroyed || !stream.writable) throw new ReaderGone();
  if (stream.write(text)) return;
  const wait = new AbortController();
  const signals = signal ? AbortSignal.any([wait.signal, signal]) : wait.signal;
  try {
    await Promise.race([
      once(stream, "drain", { signal: signals }),
      once(stream, "close", { signal: signals }),
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") throw new ReaderGone();
    // Stopped by the signal: the caller looks at it before it goes on.
    if (!signal?.aborted) throw error;
  } finally {
    wait.abort();
  }
  if (stream.destroyed) throw new ReaderGone();
}
