import { setTimeout as sleep } from "node:timers/promises";
import type { OutputStream } from "./process-output.ts";

/** Text that a program wrote to one stream. */
interface StreamText {
  readonly stream: OutputStream;
  text: string;
}

const MAX_LENGTH = 64 * 1024;
/** Beyond this count, text joins the last piece of its stream, so two alternating streams create no flood. */
const MAX_PIECES = 16;

/** Passes text from a program to a slower reader; the program waits while much is unread. */
export class TextPipe {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #pieces: StreamText[] = [];
  #length = 0;
  #isEnded = false;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  /** Adds bytes; resolves when there is room for more. */
  async write(chunk: Uint8Array, stream: OutputStream): Promise<void> {
    this.#add(stream, this.#decoders[stream].decode(chunk, { stream: true }));
    this.#wakeReader();
    while (this.#isFull)
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
  }

  /** Waits for text and returns all of it in order; undefined at the end. Single reader only. */
  async read(): Promise<readonly StreamText[] | undefined> {
    while (this.#length === 0 && !this.#isEnded) await this.#waitForText();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    this.#wakeWriter();
    return pieces.length === 0 ? undefined : pieces;
  }

  /** Lets text accumulate for up to `timeMs`, or until the pipe is full or ended. Single reader only. */
  async gather(timeMs: number): Promise<void> {
    const over = new AbortController();
    const isOver = sleep(timeMs, undefined, { signal: over.signal }).then(
      () => true,
      () => true,
    );
    while (!this.#isFull && !this.#isEnded)
      if (await Promise.race([isOver, this.#waitForText().then(() => false)])) break;
    over.abort();
  }

  /** Marks the end of the input. */
  end(): void {
    for (const stream of ["stdout", "stderr"] as const) this.#add(stream, this.#decoders[stream].decode());
    this.#stop();
  }

  /** Discards unread text and releases the writer. */
  close(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#stop();
  }

  get #isFull(): boolean {
    return this.#length > MAX_LENGTH && !this.#isEnded;
  }

  #add(stream: OutputStream, text: string): void {
    if (text === "") return;
    const last = this.#pieces.at(-1);
    const isMany = this.#pieces.length >= MAX_PIECES;
    const known =
      last?.stream === stream || !isMany ? last : this.#pieces.findLast((piece) => piece.stream === stream);
    if (known?.stream === stream) known.text += text;
    else this.#pieces.push({ stream, text });
    this.#length += text.length;
  }

  #waitForText(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeReader = resolve;
    });
  }

  #stop(): void {
    this.#isEnded = true;
    this.#wakeReader();
    this.#wakeWriter();
  }
}
