import { EstimateRun } from "../../../kernel/usage/savings-estimates.ts";
import { Lazy } from "../../../model/base/lazy.ts";
import type { ApiServices } from "../api-services.ts";
import type { ApiCaller } from "../core/api-caller.ts";
import { ApiError } from "../core/api-error.ts";
import type { ApiRoute } from "../core/route.ts";
import { ChangeFeed } from "../events/change-feed.ts";
import { HistoryImport } from "../jobs/history-import.ts";
import { IndexRun } from "../jobs/index-run.ts";
import { ReplayJobs } from "../jobs/replay-jobs.ts";
import { ReplayRunner } from "../jobs/replay-runner.ts";
import { StoreUsage } from "../spending/store-usage.ts";
import { openSampleStore } from "./sample-store.ts";

/** The routes below this path answer from the store of the sample. */
export const SAMPLE_PATH = "/sample";

/** Everybody sees the same sample. */
export const SAMPLE_CALLER: ApiCaller = {
  id: "sample",
  name: undefined,
  role: "admin",
  prefixes: undefined,
  homePrefix: "",
  memoryAgent: "sample",
  isOnLoopback: false,
};

/** Routes about one conversation, which read it. The sample stays as it is, so that its store cannot grow. */
export function checkSampleRoute({ id, method, path }: Pick<ApiRoute, "id" | "method" | "path">): void {
  const isRead = method === "GET" && /^\/(?:sessions|jobs)(?:\/|$)/.test(path);
  if (isRead || id === "startReplay") return;
  throw new ApiError("FORBIDDEN", "The sample can only be read and replayed.");
}

type Opened = ApiServices & { readonly close: () => Promise<void> };

/** The services of the API on the store of the sample, which is opened at the first request for it. */
export class SampleServices {
  readonly #own: ApiServices;
  readonly #opened = new Lazy<Opened>(() => this.#open());

  constructor(own: ApiServices) {
    this.#own = own;
  }

  open(): Promise<ApiServices> {
    return this.#opened.get();
  }

  async close(): Promise<void> {
    await (await this.#opened.peek())?.close();
  }

  async #open(): Promise<Opened> {
    const kernel = await openSampleStore();
    const replays = new ReplayJobs(new ReplayRunner(kernel), "sample-replay");
    const indexRun = new IndexRun(kernel);
    const estimates = new EstimateRun(kernel);
    const close = async () => {
      await estimates.close();
      await indexRun.close();
      await replays.close();
      await kernel.close();
    };
    return {
      kernel,
      server: this.#own.server,
      gateway: this.#own.gateway,
      imports: new HistoryImport(kernel),
      replays,
      indexRun,
      agents: undefined,
      erasures: this.#own.erasures,
      usage: new StoreUsage(kernel),
      estimates,
      signIn: this.#own.signIn,
      onError: this.#own.onError,
      feed: new ChangeFeed(kernel, { onChange: () => () => undefined }),
      close,
    };
  }
}
