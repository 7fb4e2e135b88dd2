import type { Json } from "../../model/json.ts";
import type { CacheState } from "../../model/receipt.ts";
import type { ModelTable } from "../models/model-settings.ts";
import type { ImageLimits } from "../passes/stub-stale-images.ts";
import type { Policy } from "../policy.ts";
import type { ShrinkOption } from "../shrink/shrink-filters.ts";
import type { Tokenizer } from "../tokens/tokenizer.ts";
import type { LimitOptions } from "./window-limits.ts";

export interface WindowOptions extends LimitOptions {
  /** Id of the model to call; its window, output limit and prices are looked up. */
  readonly model: string;
  /** Default "longhaul"; a name from POLICIES, or a custom policy. */
  readonly policy?: string | Policy;
  /** The system prompt, or its tokens; `tools` likewise. Both are part of every request. */
  readonly system?: string | number;
  readonly tools?: Json | number;
  /** Limits for all images of a window together. */
  readonly images?: ImageLimits;
  /** Behavior if content that may not be cut exceeds the window: throw (default) or clip it. */
  readonly oversize?: "error" | "clip";
  /** Settings for single models, by id or by id prefix followed by "*"; they override those of the kernel. */
  readonly models?: ModelTable;
  /**
   * False to never bring back content that has left the window, even if the newest message asks for it. Default true.
   */
  readonly paging?: boolean;
  /**
   * False to send tool results as they are; an object turns single filters off: `{ tests: false }`. Default true.
   * Only the policy "longhaul" shortens results.
   */
  readonly shrink?: ShrinkOption;
  /** Counts exactly instead of estimating; see `loadTokenizer`. */
  readonly tokenizer?: Tokenizer;
}

/** Options of a single fit. */
export interface FitOptions {
  readonly signal?: AbortSignal;
  /** True to plan without changing anything. */
  readonly dryRun?: boolean;
  /** For callers that know the state of the provider's cache. */
  readonly cache?: CacheState;
  /** Estimated tokens that the caller adds to the messages, for which the window must leave room. */
  readonly besides?: number;
}
