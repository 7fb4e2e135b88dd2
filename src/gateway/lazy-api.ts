import type { Api, ApiDeps } from "../api/index.ts";

/** The HTTP API, loaded with its schemas at the first request for it. */
export class LazyApi {
  readonly #deps: ApiDeps;
  #api: Promise<Api> | undefined;
  #isClosing = false;

  constructor(deps: ApiDeps) {
    this.#deps = deps;
  }

  load(): Promise<Api> {
    this.#api ??= this.#open();
    return this.#api;
  }

  /** Ends the streams of clients, which would otherwise go on while the server drains. */
  async endStreams(): Promise<void> {
    this.#isClosing = true;
    (await this.#api)?.endStreams();
  }

  async close(): Promise<void> {
    await (await this.#api)?.close();
  }

  async #open(): Promise<Api> {
    const { Api } = await import("../api/index.ts");
    const api = new Api(this.#deps);
    if (this.#isClosing) api.endStreams();
    return api;
  }
}
