import type { ModelFacts } from "../models/facts.ts";

/** What a window is like before a call. */
export interface CompactingState {
  /** Tokens of the request, as the provider counts them. */
  readonly tokens: number;
  /** The model's window, in the same tokens. */
  readonly window: number;
  readonly messages: number;
  /** True if the window is too large as it is. */
  readonly isForced: boolean;
  readonly isHot: boolean;
  readonly expectedCalls: number;
  readonly facts: ModelFacts;
}

/** Makes summaries where a window asks for them; a floor above decides how. */
export interface Compacting {
  /** True if the window has changed. ABORTED if the signal fires before that is known. */
  before(state: CompactingState, signal: AbortSignal | undefined): Promise<boolean>;
  /** The provider says that the window is too large, whatever we think. */
  force(): Promise<boolean>;
}
