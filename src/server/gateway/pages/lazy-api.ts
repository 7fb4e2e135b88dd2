import { Lazy } from "../../../model/base/lazy.ts";
import type { Api, ApiDeps } from "../../api/index.ts";

/** The HTTP API, loaded with its schemas at the first request for it. */
export class LazyApi {
  readonly #api: Lazy<Api>;
  #isClosing = false;

  constructor(deps: ApiDeps) {
    this.#api = new Lazy(async () => {
      const { Api } = await import("../../api/index.ts");
      const api = new Api(deps);
      if (this.#isClosing) api.endStreams();
      return api;
    });
  }

  load(): Promise<Api> {
    return this.#api.get();
  }

  /** True if the API can answer: an earlier failure to load it is tried again. */
  async isUsable(): Promise<boolean> {
    if (!this.#api.hasFailed) return true;
    return this.#api.get().then(
      () => true,
      () => false,
    );
  }

  /** Ends the streams of clients, which would otherwise continue while the server drains. */
  async endStreams(): Promise<void> {
    this.#isClosing = true;
    (await this.#api.peek())?.endStreams();
  }

  async close(): Promise<void> {
    await (await this.#api.peek())?.close();
  }
}
