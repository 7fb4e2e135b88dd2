import type { Handing } from "./bare-proxy.ts";

/** A server between client and upstream. */
export type ContestantJob =
  | { readonly type: "bare"; readonly handing: Handing; readonly upstream: string }
  | { readonly type: "portkey"; readonly upstream: string }
  | {
      readonly type: "gateway";
      readonly upstream: string;
      /** An empty folder for its store. */
      readonly folder: string;
      /** Settings other than the upstream, as in the configuration file. */
      readonly config?: object;
      /** The window that the upstream declares to enforce. */
      readonly window?: number;
    };

/** Resources used by a contestant's process. */
export interface Used {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** Edits of windows that a gateway has announced. */
  readonly edits: number;
}

/** A question to a contestant; "settled" first releases as much memory as possible. */
export type Question = "used" | "settled" | "close";

/** Reply of a contestant; the first one is its address. */
export type Told = { readonly url: string } | { readonly used: Used } | { readonly error: string };
