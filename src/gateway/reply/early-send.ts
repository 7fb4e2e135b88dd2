import type { UpstreamResponse } from "../upstream/send-upstream.ts";

/** A request that is sent before its messages are stored; at most one for each exchange. */
export class EarlySend implements Disposable {
  #isStarted = false;
  #response: Promise<UpstreamResponse> | undefined;

  /** True from `start` on. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Sends the request, and resolves when its bytes had their turn to leave. Does nothing the second time. */
  async start(send: () => Promise<UpstreamResponse>): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#response = send();
    // `take` reports the error; until then there is no listener.
    this.#response.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The response, once; undefined if nothing was sent or the response was taken. */
  take(): Promise<UpstreamResponse> | undefined {
    const response = this.#response;
    this.#response = undefined;
    return response;
  }

  /** Drops a response that nobody has taken. */
  [Symbol.dispose](): void {
    this.take()?.then(
      ({ body }) => body.destroy(),
      () => undefined,
    );
  }
}
