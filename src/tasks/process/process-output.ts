import type { Readable } from "node:stream";

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

const MAX_LINE_LENGTH = 64 * 1024;

/** Splits a byte stream into lines of text; a line longer than 64 Ki characters is split. */
class LineSplitter {
  readonly #decoder = new TextDecoder();
  #partialLine = "";

  /** Returns the lines completed by this chunk. */
  push(chunk: Uint8Array): string[] {
    const pieces = (this.#partialLine + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#partialLine = pieces.pop() ?? "";
    const lines = pieces.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
    if (this.#partialLine.length <= MAX_LINE_LENGTH) return lines;
    lines.push(this.#partialLine);
    this.#partialLine = "";
    return lines;
  }

  /** Returns the last line if it has no line break. */
  end(): string[] {
    const rest = this.#partialLine + this.#decoder.decode();
    this.#partialLine = "";
    return rest ? [rest] : [];
  }
}

/** Keeps the last bytes of a stream, up to a bound. */
class OutputTail {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #keptBytes = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Number of bytes received. */
  get totalBytes(): number {
    return this.#total;
  }

  /** Number of bytes received and dropped. */
  get droppedBytes(): number {
    return this.#total - this.#keptBytes;
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    this.#keptBytes += chunk.length;
    this.#chunks.push(chunk);
    while (this.#keptBytes - (this.#chunks[0]?.length ?? 0) >= this.#maxBytes)
      this.#keptBytes -= this.#chunks.shift()?.length ?? 0;
    if (this.#chunks.length > 64) this.#join();
    else if (this.#keptBytes > this.#maxBytes * 2) this.#join();
  }

  /** The kept bytes as text, without a character that is cut at the front. */
  text(): string {
    this.#join();
    const bytes = this.#chunks[0] ?? new Uint8Array();
    let start = 0;
    if (this.droppedBytes > 0) while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return new TextDecoder().decode(bytes.subarray(start));
  }

  #join(): void {
    const joined = Buffer.concat(this.#chunks);
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#maxBytes)));
    this.#chunks = [kept];
    this.#keptBytes = kept.length;
  }
}
