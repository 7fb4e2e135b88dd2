import type { ShrinkOption } from "../../shrink/shrink-filters.ts";

/**
 * Controls how the window is rebuilt. Shares refer to the room after system prompt and tools, unless stated otherwise.
 */
export interface LonghaulOptions {
  /** Share that a rebuild goes down to. */
  readonly low: number;
  /** Maximum tokens that a rebuild goes down to: cost depends on the tokens read, so it needs an absolute target. */
  readonly target: number;
  /** Share of the rebuilt size that is kept verbatim at the end. */
  readonly tail: number;
  /** Minimum share of the rebuilt size for tail and extract, however much text there is. */
  readonly work: number;
  /** Share of the rebuilt size for the extract when the limit forces text out. */
  readonly extract: number;
  /** Minimum share for the extract if content that may not leave exceeds the rebuilt size. */
  readonly least: number;
  /** When the cache is cold, rebuilds start at this share of the tool calls that fit; in large windows earlier. */
  readonly cold: number;
  /** Filters that shorten tool results when they first appear. */
  readonly shrink: ShrinkOption;
}

/** Default options. */
export const LONGHAUL_OPTIONS: LonghaulOptions = {
  low: 0.34,
  target: 28_000,
  tail: 0.14,
  work: 0.4,
  extract: 0.65,
  least: 0.1,
  cold: 0.8,
  shrink: true,
};
