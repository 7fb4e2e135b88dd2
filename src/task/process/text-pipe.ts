import type { OutputStream } from "./output.ts";

const MAX_LENGTH = 64 * 1024;

/** Hands text from a program that writes to one who reads at leisure; the program waits while much is unread. */
export class TextPipe {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #text = "";
  #isEnded = false;
  #wakeReader: () => void = () => {};
  #wakeWriter: () => void = () => {};

  /** Takes bytes; the promise is kept when there is room for more. */
  async write(chunk: Uint8Array, stream: OutputStream): Promise<void> {
    this.#text += this.#decoders[stream].decode(chunk, { stream: true });
    this.#wakeReader();
    while (this.#text.length > MAX_LENGTH && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
  }

  /** All that is there, as soon as something is; undefined at the end. For one reader. */
  async read(): Promise<string | undefined> {
    while (this.#text === "" && !this.#isEnded)
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    const text = this.#text;
    this.#text = "";
    this.#wakeWriter();
    return text === "" ? undefined : text;
  }

  /** No more will come. */
  end(): void {
    for (const decoder of Object.values(this.#decoders)) this.#text += decoder.decode();
    this.#isEnded = true;
    this.#wakeReader();
    this.#wakeWriter();
  }

  /** Nobody reads any more. */
  close(): void {
    this.#text = "";
    this.#isEnded = true;
    this.#wakeReader();
    this.#wakeWriter();
  }
}
