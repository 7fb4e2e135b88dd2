import type { Json } from "../../model/json.ts";
import type { CacheState } from "../../model/receipt.ts";
import type { ModelTable } from "../models/model-settings.ts";
import type { ImageBudget } from "../passes/stale-images.ts";
import type { Policy } from "../policy.ts";
import type { Tokenizer } from "../tokens/tokenizer.ts";
import type { LimitOptions } from "./budget.ts";

/** How a window is made. */
export interface WindowOptions extends LimitOptions {
  /** The model that is called: its window, output limit and prices are looked up. */
  readonly model: string;
  /** "longhaul" by default; a name of POLICIES, or a policy of your own. */
  readonly policy?: string | Policy;
  /** The system prompt and the tools, or their tokens: they are part of every request. */
  readonly system?: string | number;
  readonly tools?: Json | number;
  /** What the pictures of a window may take together. */
  readonly images?: ImageBudget;
  /** What to do when that which may not be cut exceeds the window: "error" by default, or clip it. */
  readonly oversize?: "error" | "clip";
  /** What holds for single models, over what the kernel was told; by id, or by a beginning of ids that ends in "*". */
  readonly models?: ModelTable;
  /** False to leave out what has left the window even where the newest message asks for it; it is brought back by default. */
  readonly paging?: boolean;
  /** Counts exactly instead of estimating; see `loadTokenizer`. */
  readonly tokenizer?: Tokenizer;
}

/** How one fit is made. */
export interface FitOptions {
  readonly signal?: AbortSignal;
  /** True to look at what would be done without doing it. */
  readonly isDryRun?: boolean;
  /** For callers who know the state of the provider's cache. */
  readonly cache?: CacheState;
}
