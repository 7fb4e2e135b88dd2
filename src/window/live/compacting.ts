import type { ModelFacts } from "../models/facts.ts";
import type { ModelSettings } from "../models/model-settings.ts";
import type { LoadedWindow } from "./load-window.ts";

/** What a window is like before a call. */
export interface CompactingState {
  /** Tokens of the request, as the provider counts them. */
  readonly tokens: number;
  /** The model's window, in the same tokens. */
  readonly window: number;
  readonly messages: number;
  readonly loaded: LoadedWindow;
  /** Tokens as the provider counts them for each estimated one. */
  readonly countedPerEstimated: number;
  /** What the models table says of the model. */
  readonly set: Pick<ModelSettings, "threshold" | "maxMessages">;
  /** True if the window is too large as it is, or the provider says so. */
  readonly isForced: boolean;
  readonly isHot: boolean;
  readonly expectedCalls: number;
  readonly facts: ModelFacts;
}

/** Makes summaries where a window asks for them; a floor above decides how. */
export interface Compacting {
  /** True if the window has changed. ABORTED if the signal fires before that is known. */
  before(state: CompactingState, signal: AbortSignal | undefined): Promise<boolean>;
}
