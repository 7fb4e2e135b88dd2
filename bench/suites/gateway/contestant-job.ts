import type { Handing } from "./bare-proxy.ts";

/** What stands between client and upstream. */
export type ContestantJob =
  | { readonly type: "bare"; readonly handing: Handing; readonly upstream: string }
  | {
      readonly type: "gateway";
      readonly upstream: string;
      /** An empty folder for its store. */
      readonly folder: string;
      /** Settings besides the upstream, as the configuration file has them. */
      readonly config?: object;
      /** The window that the upstream is said to enforce. */
      readonly window?: number;
    };

/** What a contestant's process has used, and holds. */
export interface Used {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

/** What a contestant is asked; "settled" first gives back all memory that can be given back. */
export type Question = "used" | "settled" | "close";

/** What a contestant says, first of all its address. */
export type Told = { readonly url: string } | { readonly used: Used } | { readonly error: string };
