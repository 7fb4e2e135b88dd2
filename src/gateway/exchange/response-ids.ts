import type { Thread } from "../thread/thread.ts";

const MOST = 5_000;

/** Which thread a response belongs to, for requests that name the response they go on from. */
export class ResponseIds {
  readonly #threads = new Map<string, WeakRef<Thread>>();

  set(principal: string, response: string, thread: Thread): void {
    this.#threads.set(`${principal} ${response}`, new WeakRef(thread));
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > MOST && oldest !== undefined) this.#threads.delete(oldest);
  }

  get(principal: string, response: string): Thread | undefined {
    return this.#threads.get(`${principal} ${response}`)?.deref();
  }
}
