import { once } from "node:events";
import type { Writable } from "node:stream";

/** Sink for a command's output, with backpressure from its reader. */
export interface Printer {
  /** Prints the text unchanged; throws ReaderGoneError when the reader has gone. */
  print(text: string): Promise<void>;
  /** Resolves when everything is printed and the user has left the pager, if there is one. */
  close(): Promise<void>;
}

/** The reader of our output has gone; this is not a failure. */
export class ReaderGoneError extends Error {}

/** Prints directly to a stream. */
export function createPlainPrinter(stream: Writable, signal?: AbortSignal): Printer {
  return { print: (text) => printTo(stream, text, signal), close: async () => undefined };
}

/** Writes the text and waits until the stream accepts more; throws ReaderGoneError if the stream is closed. */
export async function printTo(stream: Writable, text: string, signal?: AbortSignal): Promise<void> {
  if (stream.destroyed || !stream.writable) throw new ReaderGoneError();
  if (stream.write(text)) return;
  const wait = new AbortController();
  const signals = signal ? AbortSignal.any([wait.signal, signal]) : wait.signal;
  try {
    await Promise.race([
      once(stream, "drain", { signal: signals }),
      once(stream, "close", { signal: signals }),
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") throw new ReaderGoneError();
    // Aborted by the signal: the caller checks the signal before it continues.
    if (!signal?.aborted) throw error;
  } finally {
    wait.abort();
  }
  if (stream.destroyed) throw new ReaderGoneError();
}
