import type { ModelFacts } from "../models/model-data.ts";
import type { ModelSettings } from "../models/model-settings.ts";
import type { LoadedWindow } from "./load-window.ts";

/** State of a window before a call. */
export interface CompactionState {
  /** Tokens of the request, as the provider counts them. */
  readonly tokens: number;
  /** The model's window, in the same tokens. */
  readonly window: number;
  readonly messages: number;
  readonly loaded: LoadedWindow;
  /** Provider-counted tokens per estimated token. */
  readonly countedPerEstimated: number;
  /** Settings of the model from the models table. */
  readonly modelSettings: Pick<ModelSettings, "threshold" | "maxMessages" | "maxTurns">;
  /** Turns after which the policy wants the next summary; the caller's options and the models table override it. */
  readonly policyTurns?: number | undefined;
  /** True if the window is too large by our count, or the provider said so. */
  readonly isForced: boolean;
  /** Tokens by which it is too large, as the provider counts them; 0 or less if it is not. */
  readonly excessTokens: number;
  readonly isHot: boolean;
  readonly expectedCalls: number;
  readonly facts: ModelFacts;
  /** Share of tool output that the policy's extract keeps; undefined if it keeps none. */
  readonly extractShare?: number | undefined;
}

/** Port through which a higher layer adds summaries to a window when they are due. */
export interface WindowCompactor {
  /** Returns true if the window has changed. Throws ABORTED if the signal fires first. */
  compactIfDue(state: CompactionState, signal: AbortSignal | undefined): Promise<boolean>;
}
