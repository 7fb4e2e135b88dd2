import type { Readable } from "node:stream";
import { LineSplitter } from "./line-splitter.ts";
import { OutputTail } from "./output-tail.ts";

export type OutputStream = "stdout" | "stderr";

/** Receivers of a program's output; a returned promise pauses the program until it resolves. */
export interface OutputListeners {
  readonly onOutput?: (chunk: Uint8Array, stream: OutputStream) => Promise<void> | void;
  readonly onLine?: (line: string, stream: OutputStream) => Promise<void> | void;
}

/** Reads both streams of a program, one chunk at a time. */
interface ProcessOutput {
  /** Resolves when both streams have ended and all output is delivered; rejects if a listener throws. */
  readonly done: Promise<void>;
  tail(stream: OutputStream): OutputTail;
  totalBytes(): number;
  /** Stops delivery and destroys the streams. */
  close(): void;
}

/** Starts reading; listeners are called one at a time, in order of arrival. */
export function readProcessOutput(
  streams: Readonly<Record<OutputStream, Readable>>,
  listeners: OutputListeners,
  options: { readonly keepBytes: number; readonly onBytes?: (totalBytes: number) => void },
): ProcessOutput {
  const tails = { stdout: new OutputTail(options.keepBytes), stderr: new OutputTail(options.keepBytes) };
  let isClosed = false;
  let turn = Promise.resolve();
  const totalBytes = () => tails.stdout.totalBytes + tails.stderr.totalBytes;
  const deliver = (work: () => Promise<void>) => {
    turn = turn.then(() => (isClosed ? undefined : work()));
    return turn;
  };
  const pump = async (name: OutputStream) => {
    const lines = listeners.onLine ? new LineSplitter() : undefined;
    const tell = async (cut: readonly string[]) => {
      for (const line of cut) if (!isClosed) await listeners.onLine?.(line, name);
    };
    try {
      for await (const chunk of streams[name] as AsyncIterable<Uint8Array>) {
        if (isClosed) return;
        tails[name].push(chunk);
        options.onBytes?.(totalBytes());
        await deliver(async () => {
          await listeners.onOutput?.(chunk, name);
          if (lines) await tell(lines.push(chunk));
        });
      }
    } catch (error) {
      // A destroyed stream ends early; any other error comes from a listener.
      if (!isClosed) throw error;
    }
    if (lines) await deliver(() => tell(lines.end()));
  };
  const done = Promise.all([pump("stdout"), pump("stderr")]).then(() => {});
  done.catch(() => {});
  return {
    done,
    tail: (stream) => tails[stream],
    totalBytes,
    close() {
      isClosed = true;
      streams.stdout.destroy();
      streams.stderr.destroy();
    },
  };
}
