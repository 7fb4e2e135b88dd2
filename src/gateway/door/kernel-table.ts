import { readFile } from "node:fs/promises";

/**
 * A table of the Linux kernel. Reading one takes time and memory for each connection of the machine, so callers share
 * reads; each gets a text whose reading began after its call.
 */
export class KernelTable {
  readonly #path: string;
  #running: Promise<string | undefined> | undefined;
  /** A read that begins when the running one has ended. */
  #next: Promise<string | undefined> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined if the system has no such table. */
  read(): Promise<string | undefined> {
    if (!this.#running) return this.#next ?? this.#start();
    this.#next ??= this.#running.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<string | undefined> {
    this.#next = undefined;
    const reading = readFile(this.#path, "latin1").catch(() => undefined);
    this.#running = reading;
    void reading.then(() => {
      if (this.#running === reading) this.#running = undefined;
    });
    return reading;
  }
}
