import type { FollowOptions } from "./index/log-follower.ts";

/** Options of a catch-up. */
export interface CatchUpOptions extends FollowOptions {
  /** Called while vectors are added, with the number added and an estimate of all that were missing. */
  readonly onEmbedded?: (embedded: number, total: number) => void;
}
